/** The history of a segment, from events to the answers: first members, changes by the customers, by an edit
 * and by an erasure. */
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { daysAgo, identify, sendAll, track } from "../erasure/support.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";

type History = RouteAnswer<"GET /api/segments/:id/history">;
type Changes = RouteAnswer<"GET /api/segments/:id/changes">;

const organization = "Members";
// Scores only when the test asks for them: the day's first ones are a reason to evaluate.
const server: Server = await ownServer(() => server, { time: { scheduleMs: null } });
const today = formatDay(todayIn(quietZone));
let olga: Awaited<ReturnType<typeof joined>>;
let token = "";
/** The ids of a segment of users and of one of accounts. */
let [users, accounts] = [0, 0];

const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}organization=${olga.organization}`;
const ofPlan = (userId: string, plan: string, account: string) =>
  identify(userId, {
    properties: { plan, name: `Name of ${userId}` },
    account: { id: account, name: account },
  });

const history = (id: number, query = "") =>
  olga.json<History>("GET", at(`/api/segments/${id}/history${query}`));
const changes = (id: number, query = "") =>
  olga.json<Changes>("GET", at(`/api/segments/${id}/changes${query}`));

async function who(id: number): Promise<string[]> {
  const { changes: all } = await changes(id);
  return all.map(({ entityId, change, cause }) => `${entityId} ${change}: ${cause}`);
}

beforeAll(async () => {
  token = await server.organization(organization, "--timezone", quietZone);
  olga = await joined(server, organization, "owner", "Olga Owner");
  await sendAll(server, token, [
    ofPlan("ada", "pro", "acme"),
    ofPlan("bob", "pro", "bolt"),
    ofPlan("cal", "free", "acme"),
    ...["ada", "bob", "cal"].map((one) => track(one, "opened", daysAgo(3))),
  ]);
  await server.exported("events", organization);
  const saved = async (kind: string, filter: object) =>
    (await olga.json<{ id: number }>("POST", at("/api/segments"), { kind, name: `Of ${kind}`, filter }, 201))
      .id;
  users = await saved("users", { traits: [{ trait: "plan", value: "pro" }] });
  accounts = await saved("accounts", { events: [{ event: "opened", times: 2, days: 28 }] });
});

test("a new segment is evaluated at the next look, and its members did not enter", async () => {
  await until(
    "the segment of accounts is evaluated",
    async () => (await history(accounts)).firstEvaluatedAt,
    (seen) => seen !== null,
  );
  await until(
    "the segment of users is evaluated",
    async () => (await history(users)).firstEvaluatedAt,
    (seen) => seen !== null,
  );
  expect(await history(users)).toMatchObject({
    segment: { id: users, kind: "users", name: "Of users" },
    days: [{ day: today, size: 2, entered: 0, left: 0, causes: ["first"] }],
  });
  expect(await changes(users)).toMatchObject({ changes: [], next: null });
});

test("users and accounts enter and leave after the day's first scores, by their own data", async () => {
  await sendAll(server, token, [
    ofPlan("ada", "free", "acme"),
    ofPlan("cal", "pro", "acme"),
    ofPlan("dee", "pro", "bolt"),
    track("dee", "opened", daysAgo(1)),
  ]);
  await server.exported("events", organization);
  await server.command("score", "--organization", organization, "--even-if-stopped");
  await until(
    "both have changes",
    async () => (await who(users)).length > 0 && (await who(accounts)).length > 0,
  );
  expect((await who(users)).toSorted()).toEqual([
    "ada left: change",
    "cal entered: change",
    "dee entered: change",
  ]);
  expect(await who(accounts)).toEqual(["bolt entered: change"]);
  const { changes: all } = await changes(users);
  expect(all.find(({ entityId }) => entityId === "cal")?.entityLabel).toBe("Name of cal");
  expect((await history(users)).days).toEqual([
    { day: today, size: 3, entered: 2, left: 1, causes: ["change", "first"] },
  ]);
});

test("changes are read page by page, and as CSV", async () => {
  const all = (await changes(users)).changes;
  const pages: Changes["changes"][] = [];
  for (let before: string | null = ""; before !== null; ) {
    const page: Changes = await changes(users, `?limit=1${before === "" ? "" : `&before=${before}`}`);
    pages.push(page.changes);
    before = page.next;
  }
  expect(pages.flat()).toEqual(all);
  const csv = async (path: string) => (await (await olga.ask("GET", at(path))).text()).trim().split(/\r?\n/);
  const lines = await csv(`/api/segments/${users}/changes?format=csv`);
  expect([lines[0], lines.length]).toEqual(["entityId,entityLabel,at,change,cause", all.length + 1]);
  expect((await csv(`/api/segments/${users}/history?format=csv`))[0]).toBe("day,size,entered,left,causes");
  for (const wrong of ["changes?limit=101", "changes?before=1", "history?days=366"]) {
    expect((await olga.ask("GET", at(`/api/segments/${users}/${wrong}`))).status).toBe(400);
  }
});

test("an edit is marked", async () => {
  await olga.json("PATCH", at(`/api/segments/${users}`), {
    filter: { traits: [{ trait: "plan", value: "free" }] },
  });
  await until(
    "the edit has changed the members",
    () => who(users),
    ({ length }) => length > 3,
  );
  expect((await who(users)).slice(0, 4).toSorted()).toEqual([
    "ada entered: edit",
    "bob left: edit",
    "cal left: edit",
    "dee left: edit",
  ]);
});

test("a segment that is not there is not found, nor one of another organization", async () => {
  await server.organization("Others");
  const eve = await joined(server, "Others", "owner", "Eve Elsewhere");
  for (const part of ["history", "changes"]) {
    for (const id of ["999999", "0", "pro", "99999999999999999999"]) {
      const absent = await olga.ask("GET", at(`/api/segments/${id}/${part}`));
      expect([absent.status, await absent.text()]).toEqual([404, expect.stringContaining("no such segment")]);
    }
    const foreign = `/api/segments/${users}/${part}?organization=${eve.organization}`;
    expect((await eve.ask("GET", foreign)).status).toBe(404);
  }
});

test("an erased user is in no change, an erased account neither, and a person's copy has them", async () => {
  const copy = await olga.json<{ segmentChanges: object[] }>("GET", at("/api/users/ada/everything"));
  expect(copy.segmentChanges).toMatchObject([
    { segment: users, change: "entered", cause: "first" },
    { segment: users, change: "left", cause: "change" },
    { segment: users, change: "entered", cause: "edit" },
  ]);
  await server.command("erase", "user", "ada", "--organization", organization);
  await server.command("erase", "account", "bolt", "--organization", organization);
  expect((await who(users)).filter((line) => line.startsWith("ada"))).toEqual([]);
  expect(await who(accounts)).toEqual([]);
  // The keeper marks changes of acme by these.
  const absent = () => Promise.reject(new Error("is not asked for here"));
  const ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
  const [ofAda, ofBolt] = await ledger.erasures.accountsSince(olga.organization, 0);
  expect(ofAda).toMatchObject({ account: 0, ofAccounts: [expect.any(Number)] });
  expect(ofBolt).toMatchObject({ account: expect.any(Number), ofAccounts: [] });
  expect(ofAda?.ofAccounts).not.toContain(ofBolt?.account);
});

test("a deleted segment has no history", async () => {
  expect((await olga.ask("DELETE", at(`/api/segments/${users}`))).status).toBe(204);
  expect((await olga.ask("GET", at(`/api/segments/${users}/history`))).status).toBe(404);
});
