/** Imports in the browser, over HTTP: from the file to the figure, and what is refused. */
import { beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { auditLog, company } from "../people/support.ts";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { BrowserImports, guessed } from "./browser-support.ts";
import { zipOf } from "./zip.ts";

let server: Server;

beforeAll(async () => {
  server = await Server.shared();
});

async function place(name: string) {
  const at = await company(server, name, "--timezone", "Europe/Paris");
  return { ...at, imports: new BrowserImports(server, at.owner, at.organization) };
}

const users =
  "user_id,mail,Full name,seats,signed\n" +
  "u1,ada@example.com,Ada,12,2025-03-01 10:00\n" +
  "u2,bob@example.com,Bob,7,2025-03-02 11:00\n" +
  "u3,no address,Eve,9,2025-03-02 12:00\n";
const events =
  "user_id,event,at,amount\nu1,bought,2026-05-01 09:30,5\nu2,bought,2026-05-01 23:30,6\nu1,looked,never,7\n";

test("a CSV of users and one of events become users, events and their times", async () => {
  const { imports, owner, at } = await place("imports from csv");
  const file = await imports.uploaded("users.csv", users);
  expect(file).toMatchObject({ state: "ready", fileName: "users.csv", createdBy: "imports from csv owner" });
  expect(file.preview).toMatchObject({ from: null, kind: "users" });
  expect(file.preview?.columns.map(({ name, role, times }) => [name, role, times])).toEqual([
    ["user_id", "userId", null],
    ["mail", "email", null],
    ["Full name", "property", null],
    ["seats", "number", null],
    ["signed", "property", "zoneless"],
  ]);
  expect(file.preview?.rows[1]).toEqual(["u2", "bob@example.com", "Bob", "7", "2025-03-02 11:00"]);
  const checked = await imports.checked(file.id, guessed(file));
  expect(checked.check).toMatchObject({ rows: 3, stored: 2, duplicates: 0, rejected: 1 });
  expect(checked.check?.reasons).toMatchObject([{ rows: 1, line: 4 }]);
  expect(checked.check?.reasons[0]?.reason).toContain("email");
  expect(await imports.ran(file.id)).toMatchObject({
    state: "done",
    share: 1,
    progress: { rows: 3, stored: 2, duplicates: 0, rejected: 1 },
  });
  const rejected = await owner.ask("GET", imports.at(`/${file.id}/rejected`));
  expect(rejected.headers.get("content-disposition")).toBe(`attachment; filename="rejected-${file.id}.csv"`);
  const [header, row, end] = (await rejected.text()).split("\r\n");
  expect(header).toBe("rejected line,rejected because,user_id,mail,Full name,seats,signed");
  expect(row).toMatch(/^4,"?email .*u3,no address,Eve,9,2025-03-02 12:00$/);
  expect(end).toBe("");

  const log = await imports.uploaded("events.csv", events);
  expect(log.preview?.columns.map(({ name, role }) => [name, role])).toEqual([
    ["user_id", "userId"],
    ["event", "event"],
    ["at", "timestamp"],
    ["amount", "number"],
  ]);
  const mapping = guessed(log);
  const zoneless = await owner.ask("POST", imports.at(`/${log.id}/check`), mapping);
  expect([zoneless.status, await zoneless.text()]).toEqual([
    400,
    expect.stringContaining("timezone is missing"),
  ]);
  const counted = await imports.checked(log.id, { ...mapping, timezone: "Europe/Paris" });
  expect(counted.check).toMatchObject({ rows: 3, stored: 2, rejected: 1, reasons: [{ line: 4, rows: 1 }] });
  expect(await imports.ran(log.id)).toMatchObject({ state: "done", progress: { stored: 2, rejected: 1 } });

  const user = await until(
    "the events are loaded",
    () => owner.json<{ events: readonly { at: string }[] }>("GET", at("/api/users/u2/timeline")),
    ({ events: loaded }) => loaded.length > 0,
  );
  expect(user.events).toMatchObject([{ event: "bought", properties: { amount: 6 } }]);
  expect(JSON.stringify(user.events)).toContain("2026-05-01T21:30:00");
  expect(await owner.json("GET", at("/api/users/u1"))).toMatchObject({
    email: "ada@example.com",
    traits: { name: "Ada", seats: 12 },
  });
  const summaries = (await auditLog(owner)).map(({ summary }) => summary);
  expect(summaries.slice(0, 4)).toEqual([
    "Imported events.csv",
    "Uploaded events.csv to import it",
    "Imported users.csv",
    "Uploaded users.csv to import it",
  ]);
});

test("a file is one import however it is packed, and the second run stores nothing", async () => {
  const { imports } = await place("imports packed");
  await imports.imported("users.csv", users);
  const first = await imports.imported("events.csv", events, { timezone: "UTC" });
  expect(first.progress).toMatchObject({ rows: 3, stored: 2, rejected: 1 });
  const packed: readonly (readonly [string, Buffer])[] = [
    ["events.csv.gz", gzipSync(events)],
    ["events.zip", zipOf([{ name: "folder/events.csv", content: Buffer.from(events) }])],
    ["again.csv", Buffer.from(events)],
  ];
  for (const [name, content] of packed) {
    const file = await imports.uploaded(name, new Uint8Array(content));
    const checked = await imports.checked(file.id, { ...guessed(file), timezone: "UTC" });
    expect(checked.check).toMatchObject({ rows: 3, stored: 0, duplicates: 2, rejected: 1 });
    expect(await imports.ran(file.id)).toMatchObject({ state: "done", progress: first.progress });
    const other = await imports.checked(file.id, { ...guessed(file), timezone: "Europe/Paris" });
    expect([other.state, other.failure]).toEqual([
      "failed",
      expect.stringContaining("2 events of this file were imported under another mapping"),
    ]);
    await imports.delete(file.id);
  }
});

test("JSON lines, and the export of a tool, are known by their content", async () => {
  const { imports } = await place("imports json");
  await imports.imported("users.csv", "id,email\n1,a@example.com\n2,b@example.com\n");
  const lines = [
    { userId: 1, event: "opened", timestamp: "2026-05-01T10:00:00Z", properties: { page: 1 } },
    { userId: 2, event: "opened", timestamp: 1_777_777_777, properties: {} },
  ];
  const json = lines.map((line) => JSON.stringify(line)).join("\n");
  const mapped = await imports.uploaded("events.jsonl", json);
  expect(mapped.preview).toMatchObject({ from: null, kind: "events" });
  expect(guessed(mapped).roles?.properties).toBe("properties");
  const checked = await imports.checked(mapped.id, guessed(mapped));
  expect(checked.check).toMatchObject({ rows: 2, stored: 2, held: 0, rejected: 0, reasons: [] });

  const mixpanel = {
    event: "seen",
    properties: { distinct_id: "u7", time: 1_770_000_000, $insert_id: "a1" },
  };
  const tool = await imports.imported(
    "export.zip",
    new Uint8Array(zipOf([{ name: "hour.json.gz", content: gzipSync(`${JSON.stringify(mixpanel)}\n`) }])),
  );
  expect(tool.preview).toMatchObject({ from: "mixpanel" });
  expect(tool.progress).toMatchObject({ rows: 1, stored: 1, rejected: 0 });
});

test("what is no table, too large inside, or damaged is refused and says why", async () => {
  const { imports } = await place("imports hostile");
  const failure = async (name: string, content: Uint8Array | string) => {
    const bytes = typeof content === "string" ? content : new Uint8Array(content);
    const file = await imports.uploaded(name, bytes);
    await imports.delete(file.id);
    return [file.state, file.failure];
  };
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, "a,b\n"));
  const cut = gzipSync(events.repeat(1_000)).subarray(0, 40);
  const many = ["a.csv", "b.csv"].map((name) => ({ name, content: Buffer.from(users) }));
  const cases: readonly (readonly [string, Uint8Array | string, string])[] = [
    ["bomb.csv.gz", bomb, "inflates to more than 100 times"],
    ["bomb.zip", zipOf([{ name: "a.csv", content: Buffer.alloc(64 * 1024 * 1024, "a,b\n") }]), "100 times"],
    ["cut.csv.gz", cut, "damaged or cut off"],
    ["cut.zip", zipOf(many).subarray(0, 60), "damaged or cut off"],
    ["many.zip", zipOf(many), "has 2 files"],
    ["nested.zip", zipOf([{ name: "a.csv", content: zipOf(many) }]), "is a .zip itself"],
    ["picture.csv", new Uint8Array([1, 0, 2, 0, 3]), "is no text"],
    ["utf16.csv", Buffer.from("\ufeffid,email\n", "utf16le"), "UTF-16"],
    ["latin.csv", Buffer.from("id,prénom\n1,a\n", "latin1"), "not valid UTF-8"],
    ["table.parquet", "PAR1 and more", "rekindle import"],
    ["twice.csv", "a,a\n1,2\n", 'the column "a" twice'],
    ["header.csv", "user_id,email\n", "has no rows"],
    [
      "wide.csv",
      `${Array.from({ length: 501 }, (_, n) => `c${n}`).join(",")}\n${"1,".repeat(500)}1\n`,
      "501 columns",
    ],
    ["line.csv", `user_id,email\nu1,"${"x".repeat(33 * 1024 * 1024)}`, "longer than"],
  ];
  for (const [name, content, why] of cases) {
    expect([name, ...(await failure(name, content))]).toEqual([name, "failed", expect.stringContaining(why)]);
  }
  const empty = await imports.send("empty.csv", "");
  expect([empty.status, await empty.text()]).toEqual([400, expect.stringContaining("The file is empty")]);
});

test("10 kB of the most columns, quotes and nesting are read at once", async () => {
  const { imports } = await place("imports costly");
  const costly: readonly (readonly [string, string])[] = [
    ["quotes.csv", `user_id,email\n${'"'.repeat(10_000)}`],
    ["nested.jsonl", "[".repeat(10_000)],
    ["objects.jsonl", `${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`],
    ["commas.csv", `user_id,email\n${",".repeat(10_000)}\n`],
    ["lines.csv", `user_id,email\n${"x\n".repeat(5_000)}`],
    ["dates.csv", `user_id,event,at\n${"1,e,9999999999999\n".repeat(500)}`],
  ];
  const beganMs = performance.now();
  for (const [name, content] of costly) {
    const file = await imports.uploaded(name, content);
    expect([name, file.state]).toEqual([name, expect.stringMatching(/^(ready|failed)$/)]);
    await imports.delete(file.id);
  }
  expect(performance.now() - beganMs).toBeLessThan(30_000);
});

test("a file's name never becomes a path, and an organization has a limit of files", async () => {
  const { imports, owner, organization } = await place("imports names");
  const names = ["../../../etc/passwd", "..\\..\\a.csv", "/absolute.csv", "nul\u0001.csv", "a".repeat(200)];
  const ids: number[] = [];
  for (const name of names) ids.push((await imports.uploaded(name, users)).id);
  const { imports: listed } = await owner.json<{ imports: { fileName: string }[] }>("GET", imports.at(""));
  expect(listed.map(({ fileName }) => fileName).toReversed()).toEqual(names);
  const sixth = await imports.send("more.csv", users);
  expect([sixth.status, await sixth.text()]).toEqual([
    400,
    expect.stringContaining("There are 5 uploaded files"),
  ]);
  const folder = join(server.dataDir, "imports");
  expect(existsSync(join(folder, "..", "absolute.csv"))).toBe(false);
  for (const name of readdirSync(folder)) expect(name).toMatch(/^(node|[0-9a-f-]{36})$/);
  for (const id of ids) await imports.delete(id);
  const long = await imports.send("a".repeat(201), users);
  expect([long.status, await long.text()]).toEqual([400, expect.stringContaining("name")]);
  expect(organization).toBeGreaterThan(0);
});

test("only owners import, only their organization sees the file, and other pages cannot send one", async () => {
  const ours = await place("imports ours");
  const theirs = await place("imports theirs");
  const file = await ours.imports.uploaded("users.csv", users);
  for (const who of [ours.member, ours.viewer]) {
    const imports = new BrowserImports(server, who, ours.organization);
    expect((await imports.send("a.csv", users)).status).toBe(403);
    expect((await who.ask("GET", imports.at(""))).status).toBe(403);
    expect((await who.ask("POST", imports.at(`/${file.id}/run`))).status).toBe(403);
  }
  for (const [method, path, body] of [
    ["GET", `/${file.id}`, undefined],
    ["POST", `/${file.id}/check`, { from: "segment" }],
    ["POST", `/${file.id}/run`, undefined],
    ["GET", `/${file.id}/rejected`, undefined],
    ["DELETE", `/${file.id}`, undefined],
  ] as const) {
    expect([path, (await theirs.owner.ask(method, theirs.imports.at(path), body)).status]).toEqual([
      path,
      404,
    ]);
  }
  expect((await ours.imports.send("a.csv", users, { "X-Rekindle": "" })).status).toBe(403);
  expect((await ours.imports.send("a.csv", users, { Cookie: "" })).status).toBe(401);
  expect((await ours.imports.one(file.id)).state).toBe("ready");
});

test("a run needs a dry run, two files are not imported at once, and a bad mapping names its field", async () => {
  const { imports, owner } = await place("imports in order");
  const many = `user_id,event,at\n${"u1,seen,2026-05-01T10:00:00Z\n".repeat(60_000)}`;
  const [first, second] = [
    await imports.uploaded("a.csv", many),
    await imports.uploaded("b.csv", `${many}\n`),
  ];
  const early = await owner.ask("POST", imports.at(`/${first.id}/run`));
  expect([early.status, await early.text()]).toEqual([400, expect.stringContaining("no dry run")]);
  await owner.json("POST", imports.at(`/${first.id}/check`), guessed(first));
  const both = await owner.ask("POST", imports.at(`/${second.id}/check`), guessed(second));
  expect([both.status, await both.text()]).toEqual([409, expect.stringContaining("wait until that ends")]);
  await imports.settled(first.id);
  const wrong: readonly (readonly [object, string])[] = [
    [{ from: "excel" }, "from"],
    [{ from: null }, "kind is missing"],
    [{ from: null, kind: "events", roles: { nobody: "userId" } }, 'no column \\"nobody\\"'],
    [{ from: null, kind: "events", roles: { user_id: "userId", event: "userId" } }, "both userId"],
    [{ from: null, kind: "users", roles: { user_id: "userId" } }, "email"],
    [
      { from: null, kind: "users", roles: { user_id: "userId", event: "email", at: "event" } },
      "means nothing for users",
    ],
    [{ from: null, kind: "events", roles: { user_id: "userId", at: "timestamp" } }, "eventName is missing"],
    [{ ...guessed(first), timezone: "Mars/Base" }, "timezone is not valid"],
    [{ from: "stripe", timezone: "UTC" }, "timezone means nothing"],
    [{ from: "stripe", accountProperty: "a" }, "accountProperty means nothing"],
  ];
  for (const [mapping, why] of wrong) {
    const answer = await owner.ask("POST", imports.at(`/${second.id}/check`), mapping);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(why)]);
  }
});

test("erasing a user deletes every file of the organization, and stops its import", async () => {
  const { imports, owner, at } = await place("imports erased");
  const file = await imports.uploaded("users.csv", users);
  const folders = () => readdirSync(join(server.dataDir, "imports"));
  const before = folders();
  expect(await imports.imported("more.csv", `${users}gone,gone@example.com,Gone,1,\n`)).toMatchObject({
    state: "done",
  });
  await owner.ask("DELETE", at("/api/users/gone"));
  const gone = await until(
    "the files are gone",
    () => imports.one(file.id),
    ({ fileUntil }) => fileUntil === null,
  );
  expect([gone.state, gone.preview]).toEqual(["deleted", null]);
  await until("the folders are gone", () => folders().length < before.length);
  const run = await owner.ask("POST", imports.at(`/${file.id}/run`));
  expect([run.status, await run.text()]).toEqual([400, expect.stringContaining("The file is deleted")]);
});
