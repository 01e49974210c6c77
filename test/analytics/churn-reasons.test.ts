/** Churn reasons over HTTP, from billing events, the churn target's event and what the team says. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { sendAll } from "../erasure/support.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";

type Reasons = RouteAnswer<"GET /api/churn-reasons">;
type Revenue = RouteAnswer<"GET /api/revenue">;
type Subscriptions = RouteAnswer<"GET /api/accounts/:accountId/subscriptions">;

const organization = "Leaving";
const spring = "periods=3&to=2026-05-31";

let server: Server;
let key: string;

const track = (accountId: string, event: string, timestamp: string, properties: object = {}) => ({
  type: "track",
  userId: `${accountId}-user`,
  event,
  timestamp,
  properties,
});
const billing = (accountId: string, event: string, timestamp: string, more: object = {}) =>
  track(accountId, event, timestamp, { subscriptionId: `of ${accountId}`, accountId, ...more });
const started = (accountId: string, amount: number, more: object = {}, at = "2026-01-10T12:00:00Z") =>
  billing(accountId, "subscription_started", at, {
    plan: "Team",
    amount,
    currency: "USD",
    interval: "month",
    ...more,
  });
const ended = (accountId: string, day: string, more: object = {}) =>
  billing(accountId, "subscription_canceled", `2026-${day}T12:00:00Z`, more);
const account = (accountId: string, name: string, timestamp: string, properties: object = {}) => ({
  type: "identify",
  userId: `${accountId}-user`,
  email: `${accountId}@example.com`,
  account: { id: accountId, name, properties },
  timestamp,
});
const early = "2026-01-05T12:00:00Z";
const wordy = `Too slow. ${"Really. ".repeat(100)}`;

const items = [
  ...[
    "price",
    "silent",
    "unpaid",
    "said",
    "event",
    "again",
    "took-back",
    "stays",
    "odd",
    "euro",
    "franc",
  ].map((id) =>
    account(id, id === "price" ? "Price & Sons" : id, early, {
      owner: id === "price" ? "ann@x.test" : "bob@x.test",
    }),
  ),
  // As Stripe says it.
  started("price", 9_900),
  ended("price", "03-10", { reason: "cancellation_requested", feedback: "too_expensive", comment: wordy }),
  started("silent", 4_000),
  ended("silent", "03-20", { reason: "canceled" }),
  started("unpaid", 30_000, { plan: "Gold" }),
  billing("unpaid", "payment_failed", "2026-04-01T12:00:00Z", { amount: 30_000, currency: "USD" }),
  ended("unpaid", "04-08"),
  // The team knows better than billing, and said it later.
  started("said", 700_000, { plan: "Gold" }),
  ended("said", "04-12", { reason: "unused" }),
  account("said", "said", "2026-04-20T12:00:00Z", { churnReason: " Bought by a rival " }),
  // The application's own cancel flow.
  started("event", 5_000),
  track("event", "account_closed", "2026-05-03T10:00:00Z", {
    reason: "Missing features",
    comment: "No export.",
  }),
  ended("event", "05-03"),
  // Left for one reason, came back and left for another.
  started("again", 2_000),
  ended("again", "03-05", { reason: "low_quality" }),
  started("again", 2_000, {}, "2026-04-02T12:00:00Z"),
  ended("again", "05-15", { reason: "switched_service", feedback: "We moved to Acme." }),
  // A reason that was withdrawn is about no departure.
  started("took-back", 1_000),
  billing("took-back", "cancellation_scheduled", "2026-02-03T12:00:00Z", {
    endsAt: "2026-03-10T12:00:00Z",
    reason: "unused",
  }),
  billing("took-back", "cancellation_withdrawn", "2026-02-04T12:00:00Z"),
  ended("took-back", "05-20"),
  started("stays", 8_000),
  // A feedback alone is a comment of an unknown reason.
  started("odd", 1_500),
  ended("odd", "05-25", { feedback: "It was a gift." }),
  started("euro", 1_000, { currency: "EUR" }),
  ended("euro", "05-26", { reason: "unused" }),
  // A currency without a rate is in no figure.
  started("franc", 1_000, { currency: "CHF" }),
  ended("franc", "05-26", { reason: "unused" }),
];

beforeAll(async () => {
  server = await Server.shared();
  const token = await server.organization(organization);
  await server.ready();
  await sendAll(server, token, items);
  await server.command(
    ...["settings", "change", "--organization", organization],
    ...["--reporting-currency", "USD", "--currency-rates", "EUR=1.1"],
  );
  key = (await server.command("key", "create", "--organization", organization, "--right", "manage")).trim();
  const target = { by: "event", event: "account_closed", undoneBy: null };
  const changed = await fetch(`${server.url}/api/settings`, {
    method: "PATCH",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ churnTargets: { account: target } }),
  });
  expect(changed.status).toBe(200);
  await server.exported("subscriptions", organization);
});
afterAll(() => server.stop());

const get = (path: string) => fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
async function ask<Answer>(path: string): Promise<Answer> {
  const response = await get(path);
  const text = await response.text();
  expect([path, response.status, text.slice(0, 300)]).toEqual([path, 200, text.slice(0, 300)]);
  return JSON.parse(text) as Answer;
}

test("each month has its reasons with their MRR, payers and sources, and departures without a reason", async () => {
  const { reasons, reportingCurrency } = await ask<Reasons>(`/api/churn-reasons?${spring}`);
  expect(reportingCurrency).toBe("USD");
  expect(
    reasons.map((row) => [
      row.fromDay.slice(0, 7),
      row.reason,
      row.mrr,
      row.payers,
      row.involuntaryMrr,
      [row.fromTeam, row.fromBilling, row.fromEvent],
    ]),
  ).toEqual([
    ["2026-03", "too_expensive", 9_900, 1, 0, [0, 1, 0]],
    ["2026-03", null, 4_000, 1, 0, [0, 0, 0]],
    ["2026-03", "low_quality", 2_000, 1, 0, [0, 1, 0]],
    ["2026-04", "Bought by a rival", 700_000, 1, 0, [1, 0, 0]],
    ["2026-04", "payment_failed", 30_000, 1, 30_000, [0, 1, 0]],
    ["2026-05", "missing_features", 5_000, 1, 0, [0, 0, 1]],
    ["2026-05", "switched_service", 2_000, 1, 0, [0, 1, 0]],
    ["2026-05", "other", 1_500, 1, 0, [0, 1, 0]],
    ["2026-05", "unused", 1_100, 1, 0, [0, 1, 0]],
    ["2026-05", null, 1_000, 1, 0, [0, 0, 0]],
  ]);
});

test.each(["period=month", "period=quarter&periods=2", "period=month&split=plan"])(
  "the sums over the reasons are churned MRR and churned payers of the revenue page: %s",
  async (question) => {
    const query = `periods=5&to=2026-05-31&${question}`.replace(/^periods=5&(.*periods=)/, "$1");
    const { reasons } = await ask<Reasons>(`/api/churn-reasons?${query}`);
    const { periods } = await ask<Revenue>(`/api/revenue?${query}`);
    expect(periods.some(({ churnedPayers }) => churnedPayers > 1)).toBe(true);
    for (const period of periods) {
      const own = reasons.filter((row) => row.fromDay === period.fromDay && row.value === period.value);
      const sum = (of: (row: Reasons["reasons"][number]) => number) =>
        own.reduce((all, row) => all + of(row), 0);
      expect([
        period.fromDay,
        sum((row) => row.mrr),
        sum((row) => row.payers),
        sum((row) => row.involuntaryMrr),
        sum((row) => row.involuntaryPayers),
      ]).toEqual([
        period.fromDay,
        period.churnedMrr,
        period.churnedPayers,
        period.churnedInvoluntarilyMrr,
        period.churnedInvoluntarilyPayers,
      ]);
    }
  },
);

test("departures are split by plan, owner, band of MRR and kind of ending", async () => {
  const groups = async (split: string) => {
    const { reasons } = await ask<Reasons>(`/api/churn-reasons?${spring}&split=${split}`);
    const sums = new Map<string, number>();
    for (const { kind, value, payers } of reasons) {
      const name = value ?? kind;
      sums.set(name, (sums.get(name) ?? 0) + payers);
    }
    return Object.fromEntries(sums);
  };
  expect(await groups("plan")).toEqual({ Gold: 2, Team: 8 });
  expect(await groups("owner")).toEqual({ "ann@x.test": 1, "bob@x.test": 9 });
  expect(await groups("ending")).toEqual({ payment_failed: 1, voluntary: 9 });
  expect(await groups("mrr")).toEqual({
    "200 to 1000": 1,
    "50 to 200": 2,
    "5000 and more": 1,
    "under 50": 6,
  });
});

test("comments come newest first, cut, with who said the reason", async () => {
  const { comments, commentTotal } = await ask<Reasons>(`/api/churn-reasons?${spring}&comments=4`);
  expect(commentTotal).toBe(4);
  expect(
    comments.map(({ id, day, reason, reasonFrom, comment }) => [id, day, reason, reasonFrom, comment]),
  ).toEqual([
    ["odd", "2026-05-25", "other", "billing", "It was a gift."],
    ["again", "2026-05-15", "switched_service", "billing", "We moved to Acme."],
    ["event", "2026-05-03", "missing_features", "event", "No export."],
    ["price", "2026-03-10", "too_expensive", "billing", `${wordy.slice(0, 299)}…`],
  ]);
  expect(comments.at(-1)).toMatchObject({
    kind: "account",
    label: "Price & Sons",
    mrr: 9_900,
    isInvoluntary: false,
  });
  const few = await ask<Reasons>(`/api/churn-reasons?${spring}&comments=1`);
  expect([few.comments.length, few.commentTotal]).toEqual([1, 4]);
  const none = await ask<Reasons>(`/api/churn-reasons?${spring}&comments=0`);
  expect([none.comments.length, none.commentTotal]).toEqual([0, 4]);
});

test("the history of subscriptions says why each of them ended, and who said it", async () => {
  const endsOf = async (id: string) => {
    const { history } = await ask<Subscriptions>(`/api/accounts/${id}/subscriptions`);
    return history
      .filter(({ what }) => what === "ended" || what === "end_scheduled")
      .map(({ at, reason, reasonFrom, comment }) => [at.slice(0, 10), reason, reasonFrom, comment]);
  };
  expect(await endsOf("again")).toEqual([
    ["2026-05-15", "switched_service", "billing", "We moved to Acme."],
    ["2026-03-05", "low_quality", "billing", null],
  ]);
  expect(await endsOf("said")).toEqual([["2026-04-12", "Bought by a rival", "team", null]]);
  expect(await endsOf("silent")).toEqual([["2026-03-20", null, null, null]]);
  expect(await endsOf("took-back")).toEqual([
    ["2026-05-20", null, null, null],
    ["2026-02-03", "unused", "billing", null],
  ]);
});

test("the CSV has money in units, and the command the same rows", async () => {
  const csv = await (
    await get(`/api/churn-reasons?${spring}&format=csv&columns=fromDay,reason,mrr,payers`)
  ).text();
  expect(csv.split("\r\n").slice(0, 3)).toEqual([
    "fromDay,reason,currency,mrr,payers",
    "2026-03-01,too_expensive,USD,99.00,1",
    "2026-03-01,,USD,40.00,1",
  ]);
  const words = [
    "churn-reasons",
    "--organization",
    organization,
    "--to",
    "2026-05-31",
    "--periods",
    "3",
    "--json",
  ];
  const printed = JSON.parse(await server.command(...words));
  expect(printed.reasons).toEqual((await ask<Reasons>(`/api/churn-reasons?${spring}`)).reasons);
});

test("a wrong parameter is refused by its name", async () => {
  await expectError(await get("/api/churn-reasons?split=colour"), "validation_error", "split");
  await expectError(await get("/api/churn-reasons?comments=101"), "validation_error", "comments");
  await expectError(await get("/api/churn-reasons?period=year&periods=60"), "validation_error", "periods");
});
