/** Notes, tasks, contacts and owners over HTTP: from what team members do to lists, timelines, exports and
 * erasures. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Browser, joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { becomes } from "../until.ts";

export const runsOn = { postgres: true };

const organization = "Working";
let server: Server;
let token = "";
let olga: Awaited<ReturnType<typeof joined>>;
let mia: Awaited<ReturnType<typeof joined>>;
const longName = `Ada ${"ü".repeat(196)}`;

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  token = await server.organization(organization, "--timezone", "Europe/Paris");
  olga = await joined(server, organization, "owner", "Olga Owner");
  mia = await joined(server, organization, "member", "Mia Member");
  const acme = { id: "acme", name: "Acme", properties: { owner: "MIA.Member@example.com", tier: "gold" } };
  const person = (userId: string, more: object = {}) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    ...more,
  });
  const batch = [
    person("ada", { properties: { name: longName }, account: acme }),
    person("bob", { account: acme, properties: { owner: "olga owner" } }),
    person("carl", { properties: { owner: "nobody we know" } }),
    person("dora", { account: { id: "looms", name: "Looms" } }),
    { type: "track", userId: "ada", event: "opened" },
  ];
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  await server.exported("events", organization);
});
afterAll(() => server.stop());

const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const ask = (who: Browser, method: string, path: string, body?: object) => who.ask(method, at(path), body);
const get = <Answer>(path: string, who: Browser = olga) => who.json<Answer>("GET", at(path));
const post = <Answer>(path: string, body: object, who: Browser = olga) =>
  who.json<Answer>("POST", at(path), body, 201);

interface Task {
  readonly id: number;
  readonly title: string;
  readonly due: string | null;
  readonly isOverdue: boolean;
  readonly assignee: { readonly name: string } | null;
  readonly formerAssignee: string | null;
  readonly doneAt: string | null;
  readonly entity: { readonly kind: string; readonly id: string; readonly label: string };
}
type Tasks = { readonly total: number; readonly tasks: readonly Task[] };
type Users = {
  readonly total: number;
  readonly users: readonly { readonly userId: string; readonly owner: string | null }[];
};

const users = async (query: string) => {
  const answer = await get<Users>(`/api/users?${query}`);
  return [answer.total, ...answer.users.map(({ userId, owner }) => `${userId} ${owner}`)];
};

test("owners are the trait, else the attribute: as columns, filters, an order and CSV", async () => {
  expect(await users("sort=owner&order=ascending")).toEqual([
    4,
    "ada Mia Member",
    "bob Olga Owner",
    "carl null",
    "dora null",
  ]);
  expect(await users("owner=me")).toEqual([1, "bob Olga Owner"]);
  expect(await users(`owner=${mia.id}`)).toEqual([1, "ada Mia Member"]);
  expect(await users("owner=nobody&sort=userId&order=ascending")).toEqual([2, "carl null", "dora null"]);
  // Excel needs the byte order mark of a page's download, and programs would stumble over it.
  const path = "/api/users?search=bob&format=csv&columns=userId,owner";
  const key = (await server.command("key", "create", "--organization", organization)).trim();
  const headers = { Authorization: `Bearer ${key}` };
  const [byPage, byKey] = [await ask(olga, "GET", path), await fetch(server.url + path, { headers })];
  const csv = "userId,owner\r\nbob,Olga Owner\r\n";
  expect([await byPage.bytes(), await byKey.bytes()]).toEqual([
    new TextEncoder().encode(`\ufeff${csv}`),
    new TextEncoder().encode(csv),
  ]);
  const mine = await ask(olga, "GET", "/api/users?owner=me&format=csv&columns=userId,owner");
  expect(await mine.text()).toBe(csv);
  const accounts = await get<{ accounts: readonly { accountId: string; owner: string | null }[] }>(
    "/api/accounts?sort=owner&order=descending",
  );
  expect(accounts.accounts.map(({ accountId, owner }) => [accountId, owner])).toEqual([
    ["acme", "Mia Member"],
    ["looms", null],
  ]);
  expect((await fetch(`${server.url}/api/users?owner=me`, { headers })).status).toBe(400);
  expect(await get("/api/users/carl")).toMatchObject({ owner: null, unknownOwner: "nobody we know" });
  expect(await get("/api/users/ada")).toMatchObject({ owner: "Mia Member", isOwnerOfAccount: true });
});

test("an owner who is chosen changes the trait or the attribute, with a version and an entry in the log", async () => {
  expect((await ask(mia, "PATCH", "/api/users/carl/owner", { owner: mia.id })).status).toBe(204);
  expect((await ask(mia, "PATCH", "/api/accounts/looms/owner", { owner: olga.id })).status).toBe(204);
  expect(await get("/api/users/carl")).toMatchObject({
    owner: "Mia Member",
    unknownOwner: null,
    traits: { owner: "mia.member@example.com" },
  });
  await server.exported("users", organization);
  await becomes(() => users("sort=owner&order=ascending&account=looms"), [1, "dora Olga Owner"]);
  const log = await get<{ entries: readonly { action: string; summary: string }[] }>(
    "/api/audit-log?limit=2",
  );
  expect(log.entries.map(({ summary }) => summary)).toEqual([
    "Made Olga Owner the owner of an account",
    "Made Mia Member the owner of a user",
  ]);
  for (const [path, body, status] of [
    ["/api/users/nobody/owner", { owner: null }, 404],
    ["/api/accounts/nobody/owner", { owner: null }, 404],
    ["/api/users/carl/owner", { owner: 999_999 }, 400],
  ] as const) {
    expect((await ask(mia, "PATCH", path, body)).status).toBe(status);
  }
  const vera = await joined(server, organization, "viewer", "Vera Viewer");
  expect((await ask(vera, "PATCH", "/api/users/carl/owner", { owner: null })).status).toBe(403);
  expect((await ask(vera, "POST", "/api/users/carl/notes", { text: "x" })).status).toBe(403);
  expect((await ask(vera, "GET", "/api/users/carl/notes")).status).toBe(200);
});

test("notes, tasks and contacts are in lists and in the timeline, a page at a time", async () => {
  const note = await post<{ id: number; text: string }>("/api/users/ada/notes", {
    text: "  first line\nsecond <b>line</b>  ",
  });
  expect(note.text).toBe("first line\nsecond <b>line</b>");
  const task = { title: "Call back", due: "2020-02-29", assignee: mia.id };
  const added = await post<Task>("/api/users/ada/tasks", task);
  expect(added).toMatchObject({ due: "2020-02-29", isOverdue: true, assignee: { name: "Mia Member" } });
  expect(added.entity).toEqual({ kind: "user", id: "ada", label: longName });
  await post("/api/accounts/acme/tasks", { title: "Renew" }, mia);
  await post("/api/accounts/acme/notes", { text: "of the account" });
  const contact = { kind: "call", timestamp: "2026-11-02", text: "Was glad" };
  expect((await ask(mia, "POST", "/api/users/ada/contacts", contact)).status).toBe(204);
  const tomorrow = { kind: "call", timestamp: new Date(Date.now() + 86_400_000).toISOString() };
  const refused = await ask(mia, "POST", "/api/users/ada/contacts", tomorrow);
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("in the future")]);
  await mia.json("PATCH", at(`/api/tasks/${added.id}`), { isDone: true });
  await server.exported("events", organization);

  const contacts = await get<{ contacts: readonly object[] }>("/api/users/ada/contacts");
  expect(contacts.contacts).toEqual([
    expect.objectContaining({ day: "2026-11-02", kind: "call", text: "Was glad", userId: "ada" }),
  ]);
  expect(await get("/api/accounts/acme/contacts")).toMatchObject({ contacts: [{ userLabel: longName }] });

  type Timeline = {
    events: readonly { kind: string; id: string; properties: object }[];
    next: string | null;
  };
  const whole = await get<Timeline>("/api/users/ada/timeline");
  expect(whole.events.map(({ kind }) => kind).toSorted()).toEqual([
    "event",
    "event",
    "note",
    "task",
    "task_done",
  ]);
  const paged: string[] = [];
  for (let next: string | null = ""; next !== null; ) {
    const page: Timeline = await get(`/api/users/ada/timeline?limit=1${next && `&before=${next}`}`);
    paged.push(...page.events.map(({ kind, id }) => `${kind} ${id}`));
    next = page.next;
  }
  expect(paged).toEqual(whole.events.map(({ kind, id }) => `${kind} ${id}`));
  const ofAccount = await get<{ events: readonly { kind: string; userId: string | null }[] }>(
    "/api/accounts/acme/timeline",
  );
  expect(ofAccount.events.filter(({ kind }) => kind !== "event").map(({ userId }) => userId)).toEqual([
    null,
    null,
  ]);
  expect((await get<Timeline>("/api/users/ada/timeline?event=opened")).events).toHaveLength(1);
  const csv = await (await ask(olga, "GET", "/api/users/ada/timeline?format=csv&columns=kind,event")).text();
  expect(csv.split("\r\n").toSorted()).toContain("note,note");
});

test("tasks are listed across entities: mine, due, overdue, done and of nobody", async () => {
  const list = async (query: string, who: Browser = mia) =>
    (await get<Tasks>(`/api/tasks?${query}`, who)).tasks.map(({ title }) => title);
  await post("/api/users/bob/tasks", { title: "Mine", due: "2999-12-31", assignee: mia.id });
  expect(await list("assignee=me")).toEqual(["Mine"]);
  expect(await list("assignee=nobody")).toEqual(["Renew"]);
  expect(await list("list=due")).toEqual([]);
  expect(await list("list=done")).toEqual(["Call back"]);
  const [done] = (await get<Tasks>("/api/tasks?list=done")).tasks;
  await olga.json("PATCH", at(`/api/tasks/${done?.id}`), { isDone: false });
  expect(await list("list=overdue")).toEqual(["Call back"]);
  for (const [body, message] of [
    [{ title: "x", due: "2026-02-30" }, "due is not valid"],
    [{ title: "x".repeat(201) }, "title is too long"],
    [{ title: "a\nb" }, "title is not valid"],
    [{ title: "x", assignee: 999_999 }, "assignee is not valid"],
  ] as const) {
    const response = await ask(olga, "POST", "/api/users/bob/tasks", body);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(message)]);
  }
  for (const text of [" \n ", "a\u0000b", "x".repeat(4_001)]) {
    expect((await ask(olga, "POST", "/api/users/bob/notes", { text })).status).toBe(400);
  }
});

test("tasks are listed for the users and accounts of a segment, and by the command line", async () => {
  const segment = async (kind: string, name: string, content: object) =>
    (await post<{ id: number }>("/api/segments", { kind, name, ...content })).id;
  const list = async (of: number, query = "") => {
    const { total, tasks } = await get<Tasks>(`/api/tasks?segment=${of}${query}`);
    expect(tasks).toHaveLength(total);
    return tasks.map(({ title }) => title);
  };
  const bobs = await segment("users", "Bob", { ids: ["bob"] });
  const gold = await segment("accounts", "Gold", { filter: { traits: [{ trait: "tier", value: "gold" }] } });
  const carls = await segment("users", "Carl", { ids: ["carl"] });
  expect([await list(bobs), await list(carls)]).toEqual([["Mine"], []]);
  // Ada and Bob are users of the account Acme.
  expect(await list(gold)).toEqual(["Call back", "Mine", "Renew"]);
  expect(await list(gold, "&assignee=nobody")).toEqual(["Renew"]);
  expect(await list(gold, "&list=overdue")).toEqual(["Call back"]);
  expect(await list(gold, `&assignee=${mia.id}`)).toEqual(["Call back", "Mine"]);
  expect(await list(bobs, "&assignee=me")).toEqual([]);
  const unknown = await ask(olga, "GET", "/api/tasks?segment=99999");
  expect([unknown.status, await unknown.json()]).toEqual([
    400,
    expect.objectContaining({ message: expect.stringContaining("no segment with the id 99999") }),
  ]);
  const command = ["task", "list", "--organization", organization, "--json", "--segment"];
  const printed = JSON.parse(await server.command(...command, "Gold")) as Tasks;
  expect(printed.tasks.map(({ title }) => title)).toEqual(["Call back", "Mine", "Renew"]);
  const wrong = await server.run({}, ...command, "Silver");
  expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining('no segment "Silver"')]);
  const outside = await fetch(`${server.url}/task-entities?segment=${gold}&list=open&today=1`);
  expect(outside.status).toBe(404);
});

test("exports have notes, tasks and contacts", async () => {
  const lines = async (what: string) =>
    (await server.command("export", what, "--organization", organization))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(await lines("notes")).toMatchObject([
    { userId: "ada", accountId: null, text: "first line\nsecond <b>line</b>", createdBy: "Olga Owner" },
    { userId: null, accountId: "acme", text: "of the account" },
  ]);
  expect((await lines("tasks")).map(({ title, due }) => [title, due])).toEqual([
    ["Call back", "2020-02-29"],
    ["Renew", null],
    ["Mine", "2999-12-31"],
  ]);
  expect(await lines("contacts")).toMatchObject([
    { userId: "ada", accountId: "acme", kind: "call", text: "Was glad" },
  ]);
  const csv = await server.command("export", "notes", "--organization", organization, "--format", "csv");
  expect(csv).toContain(',ada,,"first line\nsecond <b>line</b>",Olga Owner,');
  await expect(
    server.command("export", "tasks", "--organization", organization, "--format", "parquet"),
  ).rejects.toThrow("jsonl or csv");
});

test("a removed member leaves tasks that say so, and owns nothing any more", async () => {
  await olga.done("DELETE", at(`/api/members/${mia.id}`));
  const { tasks } = await get<{ tasks: readonly Task[] }>("/api/users/bob/tasks");
  expect(tasks).toMatchObject([{ title: "Mine", assignee: null, formerAssignee: "Mia Member" }]);
  expect(await get("/api/users/carl")).toMatchObject({
    owner: null,
    unknownOwner: "mia.member@example.com",
  });
  expect(await users("owner=nobody&sort=userId&order=ascending")).toEqual([2, "ada null", "carl null"]);
});

test("an erasure deletes them with the user or the account", async () => {
  await server.command("erase", "user", "ada", "--organization", organization);
  await server.command("erase", "account", "acme", "--organization", organization);
  const notes = await server.command("export", "notes", "--organization", organization);
  const tasks = await server.command("export", "tasks", "--organization", organization);
  const contacts = await server.command("export", "contacts", "--organization", organization);
  expect([notes, contacts]).toEqual(["", ""]);
  expect(tasks.trim().split("\n")).toHaveLength(1);
  expect((await ask(olga, "GET", "/api/users/ada/tasks")).status).toBe(200);
  expect((await ask(olga, "POST", "/api/users/ada/tasks", { title: "x" })).status).toBe(404);
});
