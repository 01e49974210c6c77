/** The failures of others: from the same address, as where a proxy's own address is all that is seen. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { auditLog, Browser, codeIn, joined, password } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake" });
  await server.organization("Strangers");
});
afterAll(() => server.stop());

function guess(email: string): Promise<Response> {
  return new Browser(server).ask("POST", "/api/session", { email, password: "not the password" });
}

test("wrong passwords for invented e-mails delay no other person's right one", async () => {
  const owner = await joined(server, "Strangers", "owner", "Right Away");
  const answers: number[] = [];
  for (let attempt = 0; attempt < 60; attempt += 1) {
    answers.push((await guess(`invented${attempt}@example.com`)).status);
  }
  expect(new Set(answers)).toEqual(new Set([401]));
  const body = { email: owner.email, password };
  expect((await new Browser(server).ask("POST", "/api/session", body)).status).toBe(201);
});

test("guesses of one person's password hold up strangers, and not the browser in which the person signed in", async () => {
  const owner = await joined(server, "Strangers", "owner", "Held Up");
  await owner.done("DELETE", "/api/session");
  const body = { email: owner.email, password };
  let held = await guess(owner.email);
  while (held.status === 401) held = await guess(owner.email);
  expect(Number(held.headers.get("retry-after"))).toBeLessThanOrEqual(30);
  await expectError(held, "rate_limit_exceeded", "Too many wrong passwords");
  expect((await owner.ask("POST", "/api/session", body)).status).toBe(201);
  // The cookie of one person does not allow guesses at the password of another.
  const other = await joined(server, "Strangers", "viewer", "Other Browser");
  const wrong = { email: owner.email, password: "not the password" };
  let status = 401;
  while (status === 401) status = (await other.ask("POST", "/api/session", wrong)).status;
  expect(status).toBe(429);
});

test("a browser that a person knows may guess no more than a stranger", async () => {
  const person = await joined(server, "Strangers", "viewer", "Stolen Browser");
  await person.done("DELETE", "/api/session");
  const wrong = { email: person.email, password: "not the password" };
  const statuses: number[] = [];
  while (!statuses.includes(429)) {
    statuses.push((await person.ask("POST", "/api/session", wrong)).status);
  }
  expect(statuses).toContain(429);
  expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(5);
});

test("anonymous questions use up no sign-in, and no invitation", async () => {
  const person = await joined(server, "Strangers", "viewer", "Beside Questions");
  const invited = await server.command(
    "member",
    "invite",
    "beside@example.com",
    "--organization",
    "Strangers",
  );
  const code = codeIn(invited, "invitation");
  const ask = () => new Browser(server).ask("GET", "/api/installation");
  const refused = async () => {
    const statuses: number[] = [];
    while (!statuses.includes(429)) {
      statuses.push(...(await Promise.all(Array.from({ length: 60 }, async () => (await ask()).status))));
    }
  };
  await refused();
  const flood = Array.from({ length: 60 }, ask);
  const signedIn = new Browser(server).ask("POST", "/api/session", { email: person.email, password });
  const lookedUp = new Browser(server).ask("POST", "/api/invitations/lookup", { code });
  const accepted = new Browser(server).ask("POST", "/api/invitations/accept", {
    code,
    name: "Beside",
    password,
  });
  expect([(await signedIn).status, (await lookedUp).status, (await accepted).status]).toEqual([
    201, 200, 201,
  ]);
  expect((await Promise.all(flood)).map(({ status }) => status)).toContain(429);
});

test("failed sign-ins are in the log and in a metric; the audit log has one entry while a person is guessed at", async () => {
  const owner = await joined(server, "Strangers", "owner", "Audited Guesses");
  for (let attempt = 0; attempt < 12; attempt += 1) await guess(owner.email);
  const entries = async () =>
    (await auditLog(owner)).filter(
      ({ action, detail }) => action === "member.sign_in_held" && detail.person === owner.id,
    );
  await until("the audit log has the entry", entries, ({ length }) => length > 0);
  const [entry, ...more] = await entries();
  expect(more).toEqual([]);
  expect(entry).toMatchObject({
    person: null,
    summary: expect.stringContaining("Audited Guesses"),
    detail: { person: owner.id, failures: 5, by: "the service" },
  });
  expect(JSON.stringify(entry)).not.toContain("not the password");
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^rekindle_sign_ins_total\{result="wrong"\} [1-9]/m);
  expect(metrics).toMatch(/^rekindle_sign_ins_total\{result="held"\} [1-9]/m);
  expect(metrics).toMatch(/^rekindle_sign_ins_total\{result="right"\} [1-9]/m);
  const lines = server
    .output()
    .split("\n")
    .filter((line) => line.includes("sign-in"));
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.length).toBeLessThan(40);
  expect(lines.join("\n")).not.toContain("invented");
});
