/** `rekindle import --type notes | tasks | contacts | owners`: from a file of another tool to timelines,
 * lists, the call list's last contact, exports and the document about a person. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lastContacts } from "../../server/analytics/call-facts.ts";
import { momentEvents } from "../../server/features/alerts/rules/moment-events.ts";
import { type AuditEntry, joined } from "../people/support.ts";
import { Server } from "../server.ts";
import { countsOf } from "./support.ts";

const organization = "Moving in";
const folder = mkdtempSync(join(tmpdir(), "rekindle-moving-in-"));
let server: Server;
let olga: Awaited<ReturnType<typeof joined>>;
const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
  const token = await server.organization(organization, "--timezone", "Europe/Paris");
  olga = await joined(server, organization, "owner", "Olga Owner");
  const acme = { id: "acme", name: "Acme" };
  const person = (userId: string, more: object = {}) => ({
    type: "identify",
    userId,
    email: `${userId}@example.com`,
    ...more,
  });
  const batch = [person("ada", { account: acme }), person("bob", { account: acme }), person("carl")];
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const get = <Answer>(path: string) =>
  olga.json<Answer>("GET", `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`);

async function imported(type: string, name: string, content: string, ...options: string[]) {
  const file = join(folder, name);
  writeFileSync(file, content);
  const parameters = ["--organization", organization, "--type", type, ...options];
  return server.run({}, "import", file, ...parameters);
}

interface Timeline {
  readonly events: readonly {
    readonly kind: string;
    readonly timestamp: string;
    readonly properties: Record<string, unknown>;
  }[];
}

const timeline = async (path: string, kind: string) => {
  const { events } = await get<Timeline>(`/api/${path}/timeline`);
  return events
    .filter((one) => one.kind === kind)
    .map(({ timestamp, properties }) => ({ timestamp, ...properties }));
};

test("notes keep their date and author, on timelines, in lists, exports and the document of a person", async () => {
  const content =
    "Account ID,Email,Created,Created By,Note,Sentiment\n" +
    'acme,,2025-03-01T10:00:00Z,olga.owner@example.com,"first line\r\nsecond, line",good\n' +
    "acme,,2025-03-02 10:00,Zoë of Vitally,later,\n" +
    ",ADA@example.com,2025-02-01,,about Ada,bad\n" +
    ",nobody@example.com,2025-02-01,,about nobody,\n" +
    "acme,,2290-01-01,,from the future,\n";
  const { stdout, exitCode } = await imported("notes", "notes.csv", content, "--timezone", "Europe/Paris");
  expect(exitCode).toBe(0);
  expect(stdout).toContain('"Created By" is the author');
  expect(stdout).toContain('left out are "Sentiment"');
  expect(stdout).toContain('line 6: Email "nobody@example.com" is no user\'s');
  expect(stdout).toContain("line 7: Created is in the future");
  const onTimeline: readonly object[] = await timeline("accounts/acme", "note");
  expect(onTimeline).toEqual([
    { timestamp: "2025-03-02T09:00:00.000Z", text: "later", by: "Zoë of Vitally" },
    { timestamp: "2025-03-01T10:00:00.000Z", text: "first line\nsecond, line", by: "Olga Owner" },
  ]);
  type Notes = {
    readonly notes: readonly { readonly createdBy: object | null; readonly author: string | null }[];
  };
  const { notes } = await get<Notes>("/api/accounts/acme/notes");
  expect(notes).toMatchObject([
    { createdBy: null, author: "Zoë of Vitally" },
    { createdBy: { id: olga.id, name: "Olga Owner" }, author: null },
  ]);
  const csv = await server.command("export", "notes", "--organization", organization, "--format", "csv");
  const lines = csv.trim().split("\n");
  expect(lines).toHaveLength(5);
  expect(csv).toContain(",Olga Owner,2025-03-01T10:00:00.000Z,");
  expect(csv).toContain(",acme,later,Zoë of Vitally,2025-03-02T09:00:00.000Z,");
  expect(csv).toContain(",ada,,about Ada,,2025-01-31T23:00:00.000Z,");
  // Sent again as they are, and in another file with one row more: an address and an id are one user.
  expect((await imported("notes", "notes.csv", content, "--timezone", "Europe/Paris")).stdout).toContain(
    "already",
  );
  const more =
    "userId,accountId,at,author,text\n" +
    "ada,,2025-02-01,,about Ada\nada,,2025-02-03,Gone Person,new\n,acme,2025-03-02T09:00:00Z,Zoë of Vitally,later\n";
  const again = await imported("notes", "more.csv", more);
  expect(countsOf(again)).toEqual({ rows: 3, new: 1, duplicate: 2, rejected: 0 });
  const about = await server.command("export", "person", "--organization", organization, "--user", "ada");
  expect(about).toContain("Gone Person");
});

test("contacts count as the last contact of the user and of the account, on their day, and are no alerts", async () => {
  const at = daysAgo(40);
  const lines = [
    { accountId: "acme", at, author: "Zoë of Vitally", kind: "Call", text: "renewal", id: 17 },
    { email: "bob@example.com", at: daysAgo(50), author: "Olga Owner", kind: "e-mail" },
    { email: "carl@example.com", at: daysAgo(400), kind: "pigeon" },
  ];
  const content = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
  const first = await imported("contacts", "contacts.jsonl", content);
  expect(countsOf(first)).toEqual({ rows: 3, new: 2, duplicate: 0, rejected: 1 });
  expect(first.stdout).toContain("line 3: kind is not valid: send one of call, email");
  const edited = `${content}${JSON.stringify({ ...lines[0], text: "edited, with the same id" })}\n`;
  expect(countsOf(await imported("contacts", "edited.jsonl", edited))).toMatchObject({
    new: 0,
    duplicate: 3,
  });
  await server.exported("events", organization);
  type Contacts = { readonly contacts: readonly object[] };
  const { contacts } = await get<Contacts>("/api/accounts/acme/contacts");
  expect(contacts).toMatchObject([
    { timestamp: at, kind: "call", by: "Zoë of Vitally", text: "renewal", userId: "ada" },
    { kind: "email", by: `Olga Owner (person ${olga.id})`, userId: "bob" },
  ]);
  const { organization: id } = olga;
  const ofAcme = await lastContacts(server.warehouse(), { organization: id, kind: "account" }, [1]);
  expect([...ofAcme]).toEqual([[1, Date.parse(at)]]);
  // What was done 40 days ago is no work of the last four weeks.
  type Results = { readonly customers: readonly { readonly touches: readonly object[] }[] };
  const touches = async (period: string) =>
    (await get<Results>(`/api/results?period=${period}`)).customers.flatMap((one) => one.touches);
  expect(await touches("fourWeeks")).toEqual([]);
  expect(await touches("quarter")).toMatchObject([
    { what: "contact", person: { id: olga.id } },
    { what: "contact", at, by: "Zoë of Vitally", text: "renewal" },
  ]);
  const user = await get<{ readonly lastSeenDay: string | null }>("/api/users/ada");
  expect(user.lastSeenDay).toBeNull();
  // A contact of yesterday is no event that a rule fires for, but a mark of today is.
  const recent = `userId,at\ncarl,${daysAgo(1)}\n`;
  expect(countsOf(await imported("contacts", "recent.csv", recent))).toMatchObject({ new: 1 });
  const marked = await olga.ask("POST", `/api/users/carl/contacts?organization=${id}`, {});
  expect(marked.status).toBe(204);
  await server.exported("events", organization);
  const found = await momentEvents(server.warehouse(), {
    organization: id,
    kind: "user",
    condition: { kind: "event", event: "contacted" },
    fromMs: Date.now() - 60 * dayMs,
    toMs: Date.now() + dayMs,
  });
  expect(found.map(({ timeMs }) => timeMs > Date.now() - dayMs / 2)).toEqual([true]);
});

test("tasks and owners need team members where somebody has to act, and are in the audit log", async () => {
  const tasks =
    "userId,title,due,done,assignee,at\n" +
    "ada,Call back,31/12/2030,,olga.owner@example.com,\n" +
    "ada,Sent the offer,,14/03/2025,Zoë of Vitally,13/03/2025\n" +
    `ada,${"x".repeat(201)},,,,\n`;
  const first = await imported("tasks", "tasks.csv", tasks, "--due", "due");
  expect(countsOf(first)).toEqual({ rows: 3, new: 2, duplicate: 0, rejected: 1 });
  expect(first.stdout).toContain("line 4: title is too long: send 1 to 200 characters");
  type Tasks = { readonly tasks: readonly object[] };
  expect((await get<Tasks>("/api/users/ada/tasks")).tasks).toMatchObject([
    { title: "Call back", due: "2030-12-31", assignee: { id: olga.id }, doneAt: null },
    {
      title: "Sent the offer",
      formerAssignee: "Zoë of Vitally",
      createdAt: "2025-03-12T23:00:00.000Z",
      doneAt: "2025-03-13T23:00:00.000Z",
    },
  ]);
  const owners = "accountId,email,owner\nacme,,Olga Owner\n,carl@example.com,Zoë of Vitally\n";
  const second = await imported("owners", "owners.csv", owners);
  expect(countsOf(second)).toEqual({ rows: 2, new: 1, duplicate: 0, rejected: 1 });
  expect(second.stdout).toContain('owner "Zoë of Vitally" is no team member');
  await server.exported("accounts", organization);
  expect(await get("/api/accounts/acme")).toMatchObject({ owner: "Olga Owner", ownerId: olga.id });
  const { entries } = await get<{ readonly entries: readonly AuditEntry[] }>("/api/audit-log");
  const summaries = entries.map(({ summary }) => summary).filter((one) => one.startsWith("Imported"));
  expect(summaries).toEqual([
    "Imported 1 owner",
    "Imported 2 tasks",
    "Imported 1 contact",
    "Imported 2 contacts",
    "Imported 1 note",
    "Imported 3 notes",
  ]);
});

test("a file without a needed column, and options of another type, are refused", async () => {
  const notes = "text,at\nhello,2025-01-01\n";
  const refusals = [
    await imported("notes", "a.csv", notes),
    await imported("notes", "b.csv", "userId,at\nada,2025-01-01\n"),
    await imported("notes", "c.csv", notes, "--owner", "text"),
    await imported("notes", "d.csv", notes, "--decimal-comma"),
    await imported("notes", "e.csv", notes, "--author", "writer"),
    await imported("users", "f.csv", "userId,email\nada,ada@example.com\n", "--title", "email"),
  ];
  expect(
    refusals.map(({ exitCode, stderr }) => [
      exitCode,
      /(no column is|there is no|--[a-z-]+ means nothing for \w+)/.exec(stderr)?.[0],
    ]),
  ).toEqual([
    [1, "no column is"],
    [1, "no column is"],
    [1, "--owner means nothing for notes"],
    [1, "--decimal-comma means nothing for notes"],
    [1, "there is no"],
    [1, "--title means nothing for users"],
  ]);
});
