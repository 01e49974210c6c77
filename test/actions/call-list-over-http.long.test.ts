/** The call list from events to every reader: the API, its CSV, the command line and the digest have the same
 * rows in the same order. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { remoteLedger } from "../../server/between/remote/shared-ledger.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { commitChunk } from "../../server/features/alerts/commit-chunk.ts";
import type { DecisionChunk } from "../../server/features/alerts/store/decisions.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";

type CallList = RouteAnswer<"GET /api/call-list">;
type Row = CallList["rows"][number];

let server: Server;
let owner: Awaited<ReturnType<typeof company>>["owner"];
let token: string;
let at: (path: string) => string;
const name = "Callers";
const today = todayIn(quietZone);
const noon = (days: number) => `${formatDay(today + days)}T12:00:00Z`;

/** 65 accounts with three members each, who are active every other day: enough for a model of accounts. Of
 * `stops` the days since then. */
const accounts = Array.from({ length: 65 }, (_, at) => `a${at}`);
const stops: Readonly<Record<string, number>> = { a3: 18, a4: 40, a30: 18 };
/** The first twenty pay: 100, 110, 120 … a month. */
const paying = accounts.slice(0, 20);
const mrrOf = (account: string) =>
  paying.includes(account) ? 10_000 + 1_000 * paying.indexOf(account) : null;

beforeAll(async () => {
  server = await Server.startShared();
  await server.ready();
  const ours = await company(server, name, "--timezone", quietZone);
  ({ owner, at, token } = ours);
  const members = accounts.flatMap((account) =>
    [0, 1, 2].map((one) => ({ account, id: `${account}-u${one}` })),
  );
  const events = members.flatMap(({ account, id }, index) =>
    Array.from({ length: 90 }, (_, back) => 90 - back)
      .filter((back) => back >= (stops[account] ?? 1) && (back + index) % 2 === 0)
      .map((back) => ({ type: "track", userId: id, event: "opened", timestamp: noon(-back) })),
  );
  const bill = (account: string, event: string, days: number, properties: object) => ({
    type: "track",
    userId: `${account}-u0`,
    event,
    timestamp: noon(days),
    messageId: `${account} ${event}`,
    properties: { subscriptionId: `s-${account}`, ...properties },
  });
  const price = { plan: "Team", currency: "USD", interval: "month" };
  const all = [
    ...members.map(({ account, id }) => ({
      type: "identify",
      userId: id,
      email: `${id}@example.com`,
      account: {
        id: account,
        name: `The ${account}`,
        properties: account === "a1" ? { owner: ours.owner.email } : {},
      },
    })),
    ...paying.map((account) =>
      bill(account, "subscription_started", -80, {
        ...price,
        amount: mrrOf(account),
        currentPeriodEnd: noon(20),
      }),
    ),
    bill("a1", "cancellation_scheduled", -2, { endsAt: noon(60), reason: "too_expensive" }),
    bill("a2", "payment_failed", -3, { amount: 12_000, currency: "USD" }),
    // It ends, and pays nothing any more.
    bill("a5", "subscription_canceled", -1, {}),
    { type: "track", userId: "a1-u0", event: "contacted", timestamp: noon(-4) },
    ...events,
  ];
  for (let from = 0; from < all.length; from += 1_000) {
    const response = await server.post("/batch", ours.token, { batch: all.slice(from, from + 1_000) });
    expect(await response.json()).toMatchObject({ rejected: [] });
  }
  await server.exported("subscriptions", name);
  for (const back of [28, 7, 0]) {
    await server.command("score", "--organization", name, "--as-of", formatDay(today - back));
  }
});
afterAll(() => server.stop());

const calls = (query = "") => owner.json<CallList>("GET", `${at("/api/call-list")}${query}`);
const idsOf = ({ rows }: CallList) => rows.map(({ accountId }) => accountId);

test("payers are on the list by class, and who is silent for too long comes last", async () => {
  const list = await calls();
  expect(list).toMatchObject({ day: formatDay(today), currency: "USD" });
  expect(list.note).toBe(
    "Sorted by reason and MRR: the churn risk of accounts is not that of losing the subscription.",
  );
  expect(list.rows.map((row) => [row.accountId, row.class])).toEqual([
    ["a1", "end_scheduled"],
    ["a2", "payment_overdue"],
    ["a3", "high_risk"],
    ["a4", "unused"],
  ]);
  const [ending, overdue, risky, silent] = list.rows as [Row, Row, Row, Row];
  expect(ending).toEqual({
    kind: "account",
    accountId: "a1",
    userId: null,
    name: "The a1",
    mrr: 11_000,
    plan: "Team",
    class: "end_scheduled",
    rankValue: null,
    expectedLoss: null,
    endsOn: formatDay(today + 60),
    renewsOn: null,
    owner: `${name} owner`,
    lastContactDays: 4,
    openTask: null,
    controlUntil: null,
    snoozedUntil: null,
    reason: expect.stringMatching(/^Cancels on \d+ [A-Z][a-z]{2}: too expensive$/),
  });
  expect(overdue).toMatchObject({
    reason: expect.stringMatching(/^Payment failed on \d+ [A-Z][a-z]{2}$/),
    renewsOn: formatDay(today + 20),
  });
  expect(risky.reason).toMatch(/^Use fell \d+%/);
  expect(silent.reason).toMatch(/^Probably too late: not active for \d+ of the 28 days/);
});

test("who pays nothing has a list of its own", async () => {
  const others = await calls("&list=non_payers");
  expect(idsOf(others)).toContain("a30");
  expect(others.rows.map(({ mrr }) => mrr)).toEqual(others.rows.map(() => null));
  expect(idsOf(others).filter((id) => paying.includes(id ?? ""))).toEqual([]);
});

test("CSV, the command line and the digest have the same rows in the same order", async () => {
  const list = await calls();
  const ids = idsOf(list);
  const csv = await (await owner.ask("GET", `${at("/api/call-list")}&format=csv`)).text();
  const [header = "", ...lines] = csv.trim().split("\r\n");
  const column = header.split(",").indexOf("accountId");
  expect(lines.map((line) => line.split(",")[column] ?? "")).toEqual(ids.map(String));
  const of = ["--organization", name];
  const printed = await server.command("call-list", ...of);
  expect([...(printed.match(/(?<=^account +)a\d+/gm) ?? [])]).toEqual(ids.map(String));
  expect(JSON.parse(await server.command("call-list", ...of, "--json"))).toMatchObject({ rows: list.rows });
  const digest = await owner.json<RouteAnswer<"GET /api/digest">>("GET", at("/api/digest"));
  expect(digest.top.map(({ id }) => id)).toEqual(ids.map(String));
  expect(digest.top[0]).toMatchObject({
    mrr: 11_000,
    plan: "Team",
    owner: `${name} owner`,
    reason: list.rows[0]?.reason,
  });
});

/** Fires an alert about an account, as the run of a day does. @returns its id */
async function fired(account: string): Promise<number> {
  const { organization } = owner;
  const rule = {
    name: `About ${account}`,
    scope: { kind: "accounts" },
    condition: { kind: "riskBand", band: "high" },
  };
  const { id } = await owner.json<{ id: number }>("POST", at("/api/alert-rules"), rule, 201);
  const absent = () => Promise.reject(new Error("is not asked for here"));
  const ledger = remoteLedger(join(server.dataDir, "control.sock"), { read: absent, snapshot: absent });
  const due = (await ledger.ruleDecisions.toDecide(organization)).find(({ version }) => version.rule === id);
  const number = (await ledger.findUser(organization, `${account}-u0`))?.user.account ?? 0;
  if (due === undefined || number === 0) throw new Error(`${account} has no alert`);
  const alert = {
    entity: { kind: "account", number } as const,
    day: today,
    eventId: null,
    before: null,
    after: null,
    reasons: [],
    risk: null,
    expectedLoss: null,
    account: number,
    isExempt: false,
    assignee: owner.id,
  };
  const chunk: DecisionChunk = {
    organization,
    rule: id,
    version: due.version.version,
    after: due.watermark.sequence,
    horizonDays: 28,
    next: { decidedThrough: today, part: null, cursor: null },
    states: [],
    closed: [],
    insideBySettings: 0,
    fired: [alert],
  };
  const nowMs = Date.now();
  await commitChunk(ledger, due.version, chunk, {
    nowMs,
    todayMs: nowMs,
    nextMorningMs: nowMs,
  });
  type Alerts = RouteAnswer<"GET /api/alerts">;
  const { alerts } = await owner.json<Alerts>("GET", `${at("/api/alerts")}&rule=${id}`);
  expect(alerts).toMatchObject([{ entityId: account, assignee: { id: owner.id } }]);
  return alerts[0]?.id ?? 0;
}

test("an open task is on the row, and a snoozed or handled alert takes the row off the list", async () => {
  await owner.json("POST", at("/api/accounts/a2/tasks"), { title: "Call them" }, 201);
  expect((await calls()).rows[1]).toMatchObject({ accountId: "a2", openTask: "Call them" });
  const [ofOverdue, ofRisky] = [await fired("a2"), await fired("a3")];
  // Both fired without a churn risk. The list has the payers' losses of now, the highest first.
  const { alerts } = await owner.json<RouteAnswer<"GET /api/alerts">>("GET", at("/api/alerts"));
  expect(alerts.map(({ entityId }) => entityId)).toEqual(["a3", "a2"]);
  expect(alerts.map(({ risk, expectedLoss }) => expectedLoss === 13_000 * (risk ?? 0))[0]).toBe(true);
  const change = (id: number, body: object) => owner.json("PATCH", at(`/api/alerts/${id}`), body);
  const until = formatDay(today + 5);
  await change(ofOverdue, { snoozedUntil: until });
  await change(ofRisky, { verdict: "handled" });
  expect(idsOf(await calls())).toEqual(["a1", "a4"]);
  const aside = await calls("&list=set_aside");
  expect(aside.rows.map((row) => [row.accountId, row.snoozedUntil])).toEqual([
    ["a2", until],
    ["a3", null],
  ]);
  // Taken back, both are where they were.
  await change(ofOverdue, { snoozedUntil: null });
  await change(ofRisky, { verdict: null });
  expect(idsOf(await calls())).toEqual(["a1", "a2", "a3", "a4"]);
});

test("a row without an alert is snoozed and judged, too, and put back", async () => {
  const before = idsOf(await calls()).flatMap((id) => id ?? []);
  const [first = "", second = ""] = before.slice(1);
  const path = (account: string) => at(`/api/accounts/${account}/call`);
  const until = formatDay(today + 5);
  const change = async (account: string, body: object) =>
    expect((await owner.ask("PATCH", path(account), body)).status).toBe(204);
  await change(first, { snoozedUntil: until });
  await change(second, { verdict: "notUseful" });
  expect(idsOf(await calls())).toEqual(before.filter((id) => id !== first && id !== second));
  const aside = await calls("&list=set_aside");
  expect(aside.rows.map((row) => [row.accountId, row.snoozedUntil])).toEqual([
    [first, until],
    [second, null],
  ]);
  // A snooze is over on its day.
  await change(first, { snoozedUntil: formatDay(today) });
  expect(idsOf(await calls())).toEqual(before.filter((id) => id !== second));
  await change(second, { verdict: null });
  expect(idsOf(await calls())).toEqual(before);
  for (const [body, message] of [
    [{}, "at least one of snoozedUntil, verdict"],
    [{ snoozedUntil: "soon" }, "snoozedUntil is not valid"],
    [{ verdict: "nice" }, "verdict is not valid"],
  ] as const) {
    await expectError(await owner.ask("PATCH", path(first), body), "validation_error", message);
  }
  await expectError(await owner.ask("PATCH", path("nobody"), { verdict: null }), "not_found");
});

test("who was handled and is worse by a class is on the list again", async () => {
  const alert = await fired("a4");
  await owner.json("PATCH", at(`/api/alerts/${alert}`), { verdict: "handled" });
  expect(idsOf(await calls())).toEqual(["a1", "a2", "a3"]);
  const failed = { subscriptionId: "s-a4", amount: 14_000, currency: "USD" };
  const event = { userId: "a4-u0", event: "payment_failed", properties: failed };
  expect((await server.post("/track", token, event)).status).toBe(201);
  await server.exported("subscriptions", name);
  const worse = await calls();
  expect(worse.rows.find(({ accountId }) => accountId === "a4")).toMatchObject({ class: "payment_overdue" });
});
