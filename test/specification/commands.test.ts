/** Commands of the JSON API: every route has one, and what it sends is stored. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { operations, writtenByHand } from "../../cli/api/operations.ts";
import { currentWords, olderForms } from "../../cli/older-commands.ts";
import { rekindleProgram } from "../../cli/program.ts";
import { needsSession, type Route } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";
import { runInProcess } from "../command-in-process.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";

let server: Server;
let ours: Awaited<ReturnType<typeof company>>;
const organization = "Commanded";
const of = ["--organization", organization];
const person = { userId: "ada/1", email: "ada@example.com", account: { id: "acme", name: "Acme" } };

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  ours = await company(server, organization);
  expect((await server.post("/identify", ours.token, person)).status).toBe(201);
  await server.exported("users", organization);
});
afterAll(() => server.stop());

const rekindle = (...words: string[]) => server.command(...words, ...of);
const asked = <Answer = Record<string, unknown>>(path: string) =>
  ours.owner.json<Answer>("GET", ours.at(path));
const answered = async (...words: string[]) => JSON.parse(await rekindle(...words, "--json"));

/** The standard error of a command that has to fail. */
async function failed(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await server.run({}, ...words, ...of);
  expect([words, exitCode, stdout]).toEqual([words, 1, ""]);
  expect(stderr).not.toMatch(/\bat \S+ \(|\.ts:/);
  return stderr;
}

/** The command of these words. */
async function commandOf(topic: string, verb: string) {
  const { program } = await rekindleProgram([topic]);
  return program.commands[0]?.commands.find((command) => command.name() === verb);
}

describe("the table of routes", () => {
  const all: readonly (readonly [string, Route])[] = Object.entries(routes);

  test("has one command for each route that needs no session", () => {
    const made = operations.map(({ name }) => name);
    const wanted = all.filter(([, route]) => !needsSession(route)).map(([name]) => name);
    expect([...made, ...Object.keys(writtenByHand)].toSorted()).toEqual(wanted.toSorted());
    const words = operations.map(({ topic, verb }) => `${topic} ${verb}`);
    expect(new Set(words).size).toBe(words.length);
  });

  test.each(operations.map(({ name, topic, verb }) => [`${topic} ${verb}`, name] as const))(
    "makes help of rekindle %s",
    async (words, name) => {
      const { exitCode, stdout } = await runInProcess({}, [...words.split(" "), "--help"]);
      const { route, parameters } = operations.find((one) => one.name === name) ?? { parameters: [] };
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Usage: rekindle ${words}`)]);
      const plain = (text: string | undefined) => text?.replace(/\s+/g, " ");
      expect(plain(stdout)).toContain(plain(route?.summary) ?? "a route");
      expect(stdout.split("\n")[0]?.match(/<\S+>/g) ?? []).toHaveLength(parameters.length);
    },
  );

  test("has a command written by hand where it says so", async () => {
    for (const words of Object.values(writtenByHand)) {
      const { exitCode, stdout } = await runInProcess({}, [...words.split(" "), "--help"]);
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Usage: rekindle ${words}`)]);
    }
  });

  test("is listed in groups, a line for each topic", async () => {
    const { stdout } = await runInProcess({}, ["--help"]);
    const lines = stdout.split("\n");
    for (const group of ["Run:", "Data:", "Customers:", "Settings:", "Figures:"])
      expect(lines).toContain(group);
    for (const { topic } of operations) {
      expect(lines.filter((line) => line.startsWith(`  ${topic} `))).toHaveLength(1);
    }
  });
});

describe("a command that reads", () => {
  const alone = operations.filter(({ name, route, parameters }) => {
    const { required = [] } = route.query as { readonly required?: readonly string[] };
    const { properties = {} } = route.query as { readonly properties?: Record<string, object> };
    const isComplete = required.every((key) => "default" in (properties[key] ?? {}));
    return name.startsWith("GET ") && parameters.length === 0 && isComplete;
  });

  test.each(alone.map(({ name, topic, verb }) => [name, topic, verb] as const))(
    "answers %s as the API does",
    async (name, topic, verb) => {
      const { freshness: _, ...answer } = await answered(topic, verb);
      const { freshness: __, ...expected } = await asked(name.slice("GET ".length));
      expect(withoutMoments(answer)).toEqual(withoutMoments(expected));
      expect(await rekindle(topic, verb)).toMatch(/^\S/);
    },
  );

  test("prints a table for people, CSV with the columns that are asked for, and the API's answer", async () => {
    expect(await rekindle("user", "list")).toMatch(/^USER ID .*\nada\/1 +ada@example.com .*Acme/);
    expect(await rekindle("user", "list", "--csv", "userId,email")).toBe(
      "userId,email\r\nada/1,ada@example.com\r\n",
    );
    const { freshness: _, ...shown } = await answered("user", "show", "ada/1");
    expect(shown).toEqual(await asked("/api/users/ada%2F1"));
    expect(await rekindle("user", "show", "ada/1")).toMatch(/^email +ada@example.com$/m);
    expect(JSON.parse(await rekindle("user", "everything", "ada/1"))).toBeObject();
    expect(await rekindle("api", "get", "/api/users?limit=1&format=csv")).toContain("ada/1,ada@example.com");
    expect(JSON.parse(await rekindle("api", "GET", "/api/segments"))).toEqual(await asked("/api/segments"));
  });
});

/** What changes from one question to the next: instants, and how old something is. */
function withoutMoments(value: unknown): unknown {
  const text = JSON.stringify(value, (_, one) =>
    typeof one === "string" && /T\d\d:\d\d/.test(one) ? "" : one,
  );
  return JSON.parse(text.replace(/"(maxRequestsPerSecond|maxItemsPerSecond)":\d+/g, '"$1":0'));
}

describe("a command that changes", () => {
  test("makes, changes and deletes what has a name, and says who did", async () => {
    const filter = JSON.stringify({ riskBand: "high" });
    const { id } = await answered(
      "segment",
      "create",
      "--kind",
      "users",
      "--name",
      "Risky",
      "--filter",
      filter,
    );
    await rekindle("segment", "change", "Risky", "--name", "At risk");
    const { segments } = await asked<{ segments: readonly object[] }>("/api/segments");
    expect(segments).toMatchObject([{ id, kind: "users", name: "At risk", filter: { riskBand: "high" } }]);
    expect((await answered("segment", "history", "At risk")).segment).toMatchObject({ id });
    expect(await rekindle("user", "list", "--segment", "At risk")).not.toContain("ada");
    expect(await rekindle("segment", "export", "At risk")).toStartWith("userId,");
    await rekindle("segment", "delete", "At risk");
    expect(await asked("/api/segments")).toEqual({ segments: [] });
    const [latest] = (await answered("audit-log")).entries;
    expect(latest).toMatchObject({ action: "segment.deleted", detail: { by: "command line" } });
  });

  test("takes ids from a file, and a body from a file", async () => {
    const [ids, body] = [join(server.dataDir, "ids.csv"), join(server.dataDir, "body.json")];
    writeFileSync(ids, "sep=;\nuserId;name\nada/1;Ada\n");
    writeFileSync(body, JSON.stringify({ text: "Wants SSO" }));
    expect(
      await answered("segment", "create", "--kind", "users", "--name", "Fixed", "--ids", ids),
    ).toMatchObject({
      fixed: 1,
      unknownIds: [],
    });
    expect(await answered("user", "add-note", "ada/1", "--body", `@${body}`)).toMatchObject({
      text: "Wants SSO",
    });
    await rekindle("segment", "delete", "Fixed");
  });

  test("keeps what a PUT does not name, and takes parts of objects, names and nothing", async () => {
    const address = ["--kind", "webhook", "--address", "https://hooks.example.com/x"];
    const destination = (await answered("destination", "create", "--name", "Hooks", ...address)).destination;
    const words = ["--scope-kind", "users", "--condition-kind", "healthDown", "--condition-by", "10"];
    const more = [
      "--condition-days",
      "7",
      "--destinations",
      "Hooks",
      "--cooldown-days",
      "9",
      "--include-current",
    ];
    const rule = await answered("alert-rule", "create", "--name", "Falling", ...words, ...more);
    expect(rule).toMatchObject({
      scope: { kind: "users" },
      condition: { kind: "healthDown", by: 10, days: 7 },
      destinations: [destination.id],
      cooldownDays: 9,
      includeCurrent: true,
    });
    await rekindle(
      "alert-rule",
      "change",
      "Falling",
      "--cap",
      "5",
      "--no-cooldown-days",
      "--no-destinations",
    );
    const { rules } = await asked<{ rules: readonly object[] }>("/api/alert-rules");
    expect(rules).toMatchObject([{ id: rule.id, cap: 5, cooldownDays: null, destinations: [], version: 1 }]);
    await rekindle("alert-rule", "delete", "Falling");
    await rekindle("destination", "delete", "Hooks");
  });

  test("finds team members by e-mail address, and nobody", async () => {
    const { email, id } = ours.member;
    const task = await answered(
      "user",
      "add-task",
      "ada/1",
      "--title",
      "Call",
      "--assignee",
      email.toUpperCase(),
    );
    expect(task).toMatchObject({ title: "Call", assignee: { id } });
    expect((await answered("task", "list", "--assignee", email)).tasks).toHaveLength(1);
    await rekindle("task", "change", String(task.id), "--assignee", "nobody", "--is-done");
    const { tasks } = await asked<{ tasks: readonly object[] }>("/api/users/ada%2F1/tasks");
    expect(tasks).toMatchObject([{ assignee: null, doneAt: expect.any(String) }]);
    await rekindle("account", "owner", "acme", "--owner", email);
    await rekindle("user", "add-contact", "ada/1", "--kind", "call", "--text", "Was glad");
    await server.exported("accounts", organization);
    expect(await asked("/api/accounts/acme")).toMatchObject({ ownerId: id });
    expect((await answered("account", "contacts", "acme")).contacts).toMatchObject([{ kind: "call" }]);
    await rekindle("member", "change", ours.viewer.email, "--role", "member");
    expect(await rekindle("member", "list")).toMatch(new RegExp(`${ours.viewer.email} +member`));
  });

  test("sets settings, webhooks, exclusions and the organization", async () => {
    const churn = JSON.stringify({ by: "event", event: "gone", undoneBy: null });
    const words = ["--churn-horizon-days", "14", "--event-weights", "a=b=3", "c=.5", "--key-events", "k"];
    await rekindle("settings", "change", ...words, "--week-start", "7", "--churn-targets-user", churn);
    await rekindle("settings", "change", "--event-weights", "c=null", "--no-key-events");
    expect((await asked<{ settings: object }>("/api/settings")).settings).toMatchObject({
      churnHorizonDays: 14,
      eventWeights: { "a=b": 3 },
      keyEvents: [],
      weekStart: 7,
      churnTargets: { user: { by: "event", event: "gone" } },
    });
    expect(await failed("settings", "change", "--week-start", "1", "--version", "1")).toContain("changed");
    await rekindle("settings", "restore", "--to", "0");
    const rule = await answered("exclusion", "create", "--kind", "email_domain", "--value", "vendor.example");
    expect((await answered("exclusion", "list")).rules).toMatchObject([{ id: rule.id }]);
    await rekindle("exclusion", "delete", String(rule.id));
    await rekindle("webhook", "create", "--name", "paddle", "--preset", "paddle");
    expect(await rekindle("webhook", "list")).toContain("paddle");
    // More than owners may set.
    await rekindle("organization", "change", "--requests-per-second", "50000", "--keep-events-days", "400");
    expect(await asked("/api/organization")).toMatchObject({
      requestsPerSecond: 50_000,
      keepEventsDays: 400,
    });
  });

  test("erases a user with a receipt", async () => {
    await server.post("/identify", ours.token, { userId: "gone", email: "gone@example.com" });
    expect(await answered("user", "erase", "gone")).toMatchObject({ userId: "gone", account: null });
    expect(await failed("user", "show", "gone")).toContain("not found");
  });
});

describe("a command is refused with the reason:", () => {
  const refusals: readonly (readonly [string, string])[] = [
    ["user list --limt 5", "Did you mean --limit"],
    ["user show", "missing required argument 'userId'"],
    ["user show a b", "too many arguments"],
    ["user nothing", "unknown command 'nothing'"],
    ["users", "Did you mean user"],
    ["user list --limit many", "limit is not valid"],
    ["user list --sort colour", "Allowed choices are"],
    ["user list --csv colour", "columns is not valid"],
    ["user list --segment Nothing", 'there is no segment "Nothing"'],
    ["segment create --kind users --filter {", "--filter is not valid: give JSON"],
    ["segment create --kind users --name x --ids /nowhere", "/nowhere cannot be read"],
    ["segment create --kind users", "name is missing"],
    ["segment delete Nothing", "rekindle segment list"],
    ["segment create --body {", "--body is not valid: give JSON"],
    ["segment create --body @/nowhere", "/nowhere cannot be read"],
    ["settings change --event-weights a", "give NAME=VALUE"],
    ["settings change", "send"],
    ["task change one --is-done", "There is no such task"],
    ["webhook delete one", 'there is no webhook "one"'],
    ["task change 999999 --is-done", "There is no such task"],
    ["account owner acme --owner x@example.com", 'there is no member "x@example.com"'],
    ["account owner nobody-here --owner nobody", "not found"],
    ["rejected-events delete", "ids"],
    ["api GET /api/nothing", "the API has no GET /api/nothing"],
    ["api DELETE /api/session", "for people who sign in"],
    ["api POST /api/segments --body {", "JSON"],
    ["alert-rule create --template nothing", "give one of high-risk"],
  ];
  test.each(refusals)("rekindle %s", async (line, reason) => {
    expect(await failed(...line.split(" "))).toContain(reason);
  });

  test("an organization that does not exist, or none among several", async () => {
    const unknown = await server.run({}, "segment", "list", "--organization", "Nobody");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('no organization "Nobody"'),
    ]);
    await server.command("organization", "create", "Commanded, too");
    const several = await server.run({}, "segment", "list");
    expect([several.exitCode, several.stderr]).toEqual([1, expect.stringContaining("give --organization")]);
  });
});

describe("an older form", () => {
  test.each(olderForms.map((one) => [one.from, one] as const))(
    "%s becomes a command of today",
    async (from, one) => {
      const form = from.split(" ").map((word) => (word.startsWith("<") ? `7${word.slice(1, -1)}` : word));
      const renamed = Object.keys(one.options ?? {}).flatMap((flag) =>
        flag.startsWith("--no-") ? [flag] : [flag, "a=b"],
      );
      // A file is read at once.
      const given = renamed.includes("--address-file") ? form : [...form, ...renamed];
      const { words } = await currentWords(given);
      const [topic = "", verb = ""] = words;
      const command = (await commandOf(topic, verb)) ?? (await commandOf(topic, "list"));
      const known = command?.options.map(({ long }) => long);
      expect([
        words,
        words.filter((word) => word.startsWith("--") && known?.includes(word) !== true),
      ]).toEqual([words, []]);
    },
  );

  test("works, and its warning names the new one without secrets", async () => {
    const older = await server.run(
      {},
      "destination",
      "add",
      "Old",
      "--kind",
      "webhook",
      "--address",
      "https://a.example/secret",
      "--notice",
      "model.changed",
      ...of,
    );
    expect([older.exitCode, older.stderr]).toEqual([
      0,
      "rekindle: this form of destination add goes with 0.3.0: use rekindle destination create --name <name> --kind --address --notices --organization\n",
    ]);
    expect((await answered("destination", "list")).destinations).toMatchObject([
      { name: "Old", notices: ["model.changed"] },
    ]);
    await rekindle("destination", "pause", "Old");
    expect((await answered("destination", "list")).destinations).toMatchObject([{ state: "paused" }]);
    await rekindle("destination", "delete", "Old");
    await rekindle(
      "settings",
      "set",
      "--user-churn",
      "event gone undone by back",
      "--health-trait",
      "nps=-5..10.5:9",
      "--health-weights",
      "outlook=36,adoption=0",
    );
    await rekindle(
      "settings",
      "set",
      "--account-churn",
      "trait a b = c , d",
      "--user-risk-bands",
      ".1,.3",
      "--reporting-currency",
      "default",
    );
    expect((await asked<{ settings: object }>("/api/settings")).settings).toMatchObject({
      churnTargets: {
        user: { by: "event", event: "gone", undoneBy: "back" },
        account: { by: "trait", trait: "a b", values: ["c", "d"] },
      },
      healthTraits: [{ trait: "nps", zeroAt: -5, hundredAt: 10.5, weight: 9 }],
      riskBands: { user: { medium: 0.1, high: 0.3 } },
    });
    await rekindle(
      "alert-rule",
      "create",
      "--template",
      "key-event",
      "--event",
      "report_created",
      "--hold-out",
      "0.2",
      "--exempt-mrr",
      "500",
    );
    expect((await answered("alert-rule", "list")).rules).toMatchObject([
      {
        scope: { kind: "accounts" },
        condition: { kind: "keyEventUnseen", event: "report_created" },
        holdOutShare: 0.2,
        exemptions: { mrrAbove: 500 },
      },
    ]);
    await rekindle("task", "add", "Renew", "--account", "acme", "--due", "2020-02-29");
    expect(await rekindle("task", "about", "--account", "acme")).toMatch(/Renew +2020-02-29 +true/);
  });
});
