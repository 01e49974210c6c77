/** Destinations and deliveries on the command line: from the command to what is stored and what a receiver
 * gets. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { auditLog, company } from "../people/support.ts";
import { programEntry } from "../program.ts";
import { environment, Server } from "../server.ts";
import { until } from "../until.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

let [server, receiver, mails]: [Server, Receiver, MailServer] = [] as never;
let ours: Awaited<ReturnType<typeof company>>;
const of = ["--organization", "Commanding"];

beforeAll(async () => {
  receiver = await startReceiver();
  mails = await startMailServer();
  server = await Server.start({
    role: "intake",
    env: {
      ALLOW_PRIVATE_DESTINATIONS: receiver.allowed,
      SMTP_URL: mails.url(),
      MAIL_FROM: "rekindle@example.com",
      PUBLIC_URL: "https://rekindle.example.com",
    },
  });
  ours = await company(server, "Commanding");
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
  await mails.stop();
});

/** Runs a command. */
const rekindle = (...words: string[]) => server.command(...words, ...of);

/** The standard error of a command that has to fail. */
async function failed(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await server.run({}, ...words, ...of);
  expect([exitCode, stdout]).toEqual([1, ""]);
  return stderr;
}

interface Destination {
  readonly id: number;
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly held: number;
  readonly notices: readonly string[];
  readonly sendsEmails: boolean;
  readonly address: string | null;
}

/** The destination as owners see it by the API. */
async function stored(name: string): Promise<Destination | undefined> {
  const path = ours.at("/api/destinations");
  const { destinations } = await ours.owner.json<{ destinations: Destination[] }>("GET", path);
  return destinations.find((one) => one.name === name);
}

/** Runs the command as a process with this standard input. */
async function withInput(input: string, ...words: string[]): Promise<number> {
  const command = [process.execPath, programEntry("main"), ...words, ...of];
  const child = Bun.spawn(command, {
    env: environment(server.dataDir),
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  return child.exited;
}

describe("a destination", () => {
  test("is added with its secret printed, changed, paused, resumed and deleted", async () => {
    const address = receiver.address("/200");
    const notices = ["--notices", "model.changed", "digest.weekly"];
    const words = [
      "--name",
      "Hooks",
      "--kind",
      "webhook",
      "--address",
      address,
      ...notices,
      "--sends-emails",
    ];
    const { secret } = JSON.parse(await rekindle("destination", "create", ...words, "--json"));
    expect(secret).toStartWith("whsec_");
    expect(await stored("Hooks")).toMatchObject({
      kind: "webhook",
      state: "active",
      address,
      sendsEmails: true,
      notices: ["model.changed", "digest.weekly"],
    });
    await rekindle("destination", "test", "Hooks");
    const [got] = receiver.got.filter(({ path }) => path === "/200");
    expect(new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {})).toMatchObject({
      type: "test",
    });
    const other = receiver.address("/201");
    await rekindle("destination", "change", "Hooks", "--name", "Renamed", "--address", other);
    expect(await stored("Renamed")).toMatchObject({ address: other, sendsEmails: true });
    await rekindle("destination", "change", "Renamed", "--no-notices", "--no-sends-emails");
    expect(await stored("Renamed")).toMatchObject({ notices: [], sendsEmails: false });
    await rekindle("destination", "change", "Renamed", "--state", "paused");
    expect(await stored("Renamed")).toMatchObject({ state: "paused" });
    expect(await failed("destination", "test", "Renamed")).toContain("is paused and sends nothing");
    await rekindle("destination", "change", "Renamed", "--state", "active");
    expect(await stored("Renamed")).toMatchObject({ state: "active" });
    const second = await rekindle("destination", "secret", "Renamed", "--json");
    expect(JSON.parse(second).secret).toStartWith("whsec_");
    await rekindle("destination", "delete", "Renamed");
    expect(await stored("Renamed")).toBeUndefined();
    const [latest] = await auditLog(ours.owner);
    expect(latest).toMatchObject({ action: "destination.deleted", person: null });
  });

  test("gets a secret address from a file or from standard input, which no list shows", async () => {
    const file = join(server.dataDir, "address.txt");
    writeFileSync(file, `${receiver.address("/slack")}\n`);
    await rekindle("destination", "add", "From file", "--kind", "slack", "--address-file", file);
    const words = ["destination", "add", "From input", "--kind", "slack", "--address-file", "-"];
    expect(await withInput(receiver.address("/input"), ...words)).toBe(0);
    for (const [name, path] of [
      ["From file", "/slack"],
      ["From input", "/input"],
    ] as const) {
      expect(await stored(name)).toMatchObject({ kind: "slack", address: null });
      expect(await rekindle("destination", "test", name)).toStartWith("delivered");
      expect(receiver.got.filter((one) => one.path === path)).toHaveLength(1);
      await rekindle("destination", "delete", name);
    }
  });

  test("of e-mail waits until its recipient agrees", async () => {
    await rekindle("destination", "add", "Ada", "--kind", "email", "--address", "ada@example.com");
    expect(await stored("Ada")).toMatchObject({ state: "unconfirmed" });
    await until("the recipient has a mail", () =>
      mails.received.some(({ to }) => to.includes("ada@example.com")),
    );
    expect(await failed("destination", "test", "Ada")).toContain("its recipient has to agree first");
  });

  test("is refused with the reason", async () => {
    const add = ["destination", "add", "Bad", "--kind", "webhook"];
    expect(await failed(...add)).toContain("address is missing");
    expect(await failed(...add, "--address", "http://10.0.0.1/")).toContain("https");
    expect(await failed(...add, "--address", "https://[::1]/")).toContain("::1 is no public address");
    expect(await failed(...add, "--address-file", "/nowhere/file")).toContain("/nowhere/file cannot be read");
    expect(await failed("destination", "pause", "Bad")).toContain('there is no destination "Bad"');
    expect(await failed("destination", "change", "Ada")).toContain("at least one of name, address");
    expect(await failed("destination", "held", "Ada", "keep")).toContain("Allowed choices are send, drop");
    expect(await stored("Bad")).toBeUndefined();
  });
});

describe("a delivery", () => {
  interface Deliveries {
    readonly deliveries: readonly { readonly id: number; readonly state: string; readonly status: number }[];
  }
  const deliveries = async (...words: string[]) =>
    (JSON.parse(await rekindle("delivery", "list", "--json", ...words)) as Deliveries).deliveries;

  test("is listed, sent again, held and dropped", async () => {
    const address = receiver.address("/404");
    await rekindle("destination", "add", "Failing", "--kind", "webhook", "--address", address);
    expect(await server.run({}, "destination", "test", "Failing", ...of)).toMatchObject({ exitCode: 1 });
    const [first] = await deliveries("--destination", "Failing");
    expect(first).toMatchObject({ state: "pending", status: 404 });
    expect(await rekindle("delivery", "list", "--destination", "Failing")).toMatch(
      /test +pending +1 +\S+ +\S+ +404 +status 404/,
    );
    await rekindle("destination", "change", "Failing", "--address", receiver.address("/202"));
    await rekindle("delivery", "again", String(first?.id));
    await until(
      "the message is delivered",
      () => deliveries("--state", "delivered", "--destination", "Failing"),
      ({ length }) => length === 1,
    );
    await rekindle("destination", "pause", "Failing");
    const path = `/api/destinations/${(await stored("Failing"))?.id}/test`;
    await ours.owner.json("POST", ours.at(path), undefined, 201);
    expect(await rekindle("destination", "held", "Failing", "drop")).toMatch(/messages +1\n/);
    await ours.owner.json("POST", ours.at(path), undefined, 201);
    await rekindle("destination", "resume", "Failing");
    expect(await rekindle("destination", "held", "Failing", "send")).toMatch(/messages +1\n/);
    await until(
      "the second message is delivered",
      () => deliveries("--state", "delivered", "--destination", "Failing"),
      ({ length }) => length === 2,
    );
    expect(await deliveries("--state", "canceled")).toHaveLength(1);
  });

  test("is refused with the reason", async () => {
    expect(await failed("delivery", "again", "999999")).toContain("There is no such delivery");
    expect(await failed("delivery", "again", "one")).toContain("There is no such delivery");
    expect(await failed("delivery", "list", "--destination", "x")).toContain('there is no destination "x"');
  });
});
