/** Tasks, notes, contacts and owners on the command line: from the command to what is stored. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";

let server: Server;
let ours: Awaited<ReturnType<typeof company>>;
const organization = "Toiling";
const of = ["--organization", organization];

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  ours = await company(server, organization);
  const person = { userId: "ada/1", email: "ada@example.com", account: { id: "acme", name: "Acme" } };
  expect((await server.post("/identify", ours.token, person)).status).toBe(201);
  await server.exported("users", organization);
}, 300_000);
afterAll(() => server.stop());

const rekindle = (...words: string[]) => server.command(...words, ...of);
const get = <Answer>(path: string) => ours.owner.json<Answer>("GET", ours.at(path));

/** The standard error of a command that has to fail. */
async function failed(...words: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await server.run({}, ...words, ...of);
  expect([exitCode, stdout]).toEqual([1, ""]);
  return stderr;
}

test("a task is added, changed, done, opened again and deleted", async () => {
  const { email, id: member } = ours.member;
  const words = ["--user", "ada/1", "--due", "2020-02-29", "--assignee", email, "--json"];
  const { id } = JSON.parse(await rekindle("task", "add", "Call", ...words)) as { id: number };
  const tasks = () => get<{ tasks: readonly object[] }>("/api/users/ada%2F1/tasks");
  expect((await tasks()).tasks).toMatchObject([
    { id, title: "Call", due: "2020-02-29", isOverdue: true, assignee: { id: member }, createdBy: null },
  ]);
  await rekindle("task", "add", "Renew", "--account", "acme");
  expect(await rekindle("task", "list", "--assignee", email)).toMatch(
    /^ID .*\n\d+ +user ada\/1 +Call +2020-02-29 +overdue +Toiling member\n$/,
  );
  expect(await rekindle("task", "list", "--list", "overdue")).not.toContain("Renew");
  const changes = ["--title", "Call back", "--due", "none", "--assignee", "nobody"];
  await rekindle("task", "change", String(id), ...changes);
  expect((await tasks()).tasks).toMatchObject([{ title: "Call back", due: null, assignee: null }]);
  await rekindle("task", "done", String(id));
  expect(await rekindle("task", "about", "--user", "ada/1")).toContain("done");
  await rekindle("task", "reopen", String(id));
  expect((await tasks()).tasks).toMatchObject([{ doneAt: null }]);
  await rekindle("task", "delete", String(id));
  expect((await tasks()).tasks).toEqual([]);
});

test("a task is refused with the reason", async () => {
  expect(await failed("task", "add", "Call")).toContain("give either --user or --account");
  expect(await failed("task", "add", "Call", "--user", "nobody-here")).toContain("User not found");
  expect(await failed("task", "add", "Call", "--user", "ada/1", "--due", "soon")).toContain(
    "due is not valid",
  );
  expect(await failed("task", "change", "1")).toContain("at least one of title");
  expect(await failed("task", "done", "999999")).toContain("There is no such task");
  expect((await get<{ tasks: object[] }>("/api/users/ada%2F1/tasks")).tasks).toEqual([]);
});

test("a note is written, listed, changed and deleted", async () => {
  const notes = () => get<{ notes: readonly { id: number; text: string }[] }>("/api/accounts/acme/notes");
  await rekindle("note", "add", "Wants SSO", "--account", "acme");
  const [note] = (await notes()).notes;
  expect(note).toMatchObject({ text: "Wants SSO", createdBy: null });
  await rekindle("note", "change", String(note?.id), "Has SSO");
  expect(await rekindle("note", "list", "--account", "acme")).toMatch(/account acme +\S+ +- +Has SSO\n$/);
  await rekindle("note", "delete", String(note?.id));
  expect((await notes()).notes).toEqual([]);
  expect(await failed("note", "add", " ", "--account", "acme")).toContain("text is empty");
  expect(await failed("note", "list")).toContain("give either --user or --account");
  expect(await failed("note", "delete", "999999")).toContain("There is no such note");
});

test("the audit log is listed, and read on", async () => {
  const lines = (await rekindle("audit-log", "--limit", "2")).trim().split("\n");
  expect(lines.join("\n")).toMatch(
    /^ID +AT +BY +CHANGE +SUMMARY\n\d+ +\S+Z +command line +note\.deleted +Deleted a note on an account\n\d+ +\S+Z +command line +note\.changed +Changed a note on an account$/,
  );
  const before = lines[2]?.split(" ")[0] ?? "";
  const page = `${ours.at("/api/audit-log")}&limit=1&before=${before}`;
  expect(JSON.parse(await rekindle("audit-log", "--limit", "1", "--before", before, "--json"))).toEqual(
    await ours.owner.json<object>("GET", page),
  );
});

test("a contact is added and listed", async () => {
  const words = ["--kind", "call", "--at", "2026-01-05T10:00:00Z", "--text", "Was glad"];
  await rekindle("contact", "add", "ada/1", ...words);
  await server.exported("events", organization);
  expect(await rekindle("contact", "list", "--account", "acme")).toMatch(
    /2026-01-05T10:00:00.000Z +ada\/1 +call +command line +Was glad\n$/,
  );
  expect(await failed("contact", "add", "ada/1", "--at", "soon")).toContain("timestamp");
  expect(await failed("contact", "add", "nobody-here")).toContain("User not found");
});

test("an owner is set and taken back, and a reason of churn is said", async () => {
  const { email, id } = ours.member;
  await rekindle("owner", "set", email, "--account", "acme");
  await server.exported("accounts", organization);
  expect(await get("/api/accounts/acme")).toMatchObject({ ownerId: id });
  expect(JSON.parse(await rekindle("owner", "show", "--user", "ada/1", "--json"))).toEqual({
    owner: "Toiling member",
    ownerId: id,
  });
  await rekindle("owner", "set", "nobody", "--account", "acme");
  await rekindle("churn-reason", "set", "Too expensive", "--account", "acme");
  await server.exported("accounts", organization);
  expect(await rekindle("owner", "show", "--account", "acme")).toMatch(/nobody +-\n$/);
  expect(await get("/api/accounts/acme")).toMatchObject({ traits: { churnReason: "Too expensive" } });
  expect(await failed("owner", "set", "x@example.com", "--user", "ada/1")).toContain("has no member");
  expect(await failed("owner", "set", email, "--user", "nobody-here")).toContain("User not found");
  expect(await failed("owner", "set", email)).toContain("give either --user or --account");
});
