/** Renewals from billing events to the API, its CSV and the command line. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import { Server } from "../server.ts";
import { expectError, send } from "../specification/support.ts";

type Renewals = RouteAnswer<"GET /api/renewals">;
type Payers = RouteAnswer<"GET /api/renewals/payers">;

const name = "Renewals";
const now = new Date(todayIn(quietZone) * 86_400_000);
/** A day of the month so many months after the current one. */
const dayOf = (months: number, day: number) =>
  formatDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, day) / 86_400_000);
const noon = (months: number, day: number) => `${dayOf(months, day)}T12:00:00Z`;

let server: Server;
let place: Awaited<ReturnType<typeof company>>;

const event = (
  userId: string,
  [month, day]: readonly [number, number],
  what: string,
  properties: object,
) => ({
  userId,
  event: what,
  timestamp: noon(month, day),
  messageId: `${userId} ${what} ${month} ${day}`,
  properties: { subscriptionId: `sub ${userId}`, ...properties },
});
const price = (amount: number, interval: string, currentPeriodEnd?: string) => ({
  plan: interval === "year" ? "Enterprise" : "Team",
  amount,
  currency: "USD",
  interval,
  ...(currentPeriodEnd !== undefined && { currentPeriodEnd }),
});

beforeAll(async () => {
  server = await Server.shared();
  place = await company(server, name, "--timezone", quietZone);
  await server.ready();
  const attributes: Readonly<Record<string, object>> = {
    dan: { owner: place.owner.email },
    fay: { renewsAt: dayOf(1, 20) },
  };
  for (const userId of ["ada", "bob", "cyd", "dan", "eve", "fay", "hal"]) {
    const account = { id: `${userId}-co`, name: `${userId} co`, properties: attributes[userId] ?? {} };
    await send(server, "/identify", place.token, { userId, email: `${userId}@example.com`, account });
  }
  await send(server, "/identify", place.token, { userId: "gus", email: "gus@example.com" });
  const events = [
    event("ada", [-2, 10], "subscription_started", price(1_000, "month", noon(-1, 10))),
    event("ada", [-1, 10], "subscription_changed", price(1_000, "month", noon(1, 10))),
    event("bob", [-2, 12], "subscription_started", price(500, "month", noon(-1, 12))),
    event("bob", [-1, 12], "subscription_canceled", {}),
    event("cyd", [-2, 15], "subscription_started", price(300, "month", noon(-1, 15))),
    event("dan", [-11, 9], "subscription_started", price(120_000, "year", noon(1, 9))),
    event("eve", [-1, 5], "subscription_started", price(800, "2 months", noon(1, 5))),
    event("eve", [-1, 6], "cancellation_scheduled", { endsAt: noon(1, 5) }),
    event("fay", [-1, 5], "subscription_started", price(700, "month")),
    event("gus", [-1, 18], "subscription_started", price(900, "month", noon(1, 18))),
    event("hal", [-1, 19], "subscription_started", price(600, "month")),
  ];
  for (const one of events) await send(server, "/track", place.token, one);
  // The export waits for all changes of subscriptions.
  expect(await server.exported("subscriptions", name)).not.toEqual([]);
});
afterAll(() => server.stop());

const renewals = (query = "") => place.owner.json<Renewals>("GET", place.at("/api/renewals") + query);
const payers = (query = "") => place.owner.json<Payers>("GET", place.at("/api/renewals/payers") + query);

test("months have what was due, and past months what came of it: renewed, lost and open add up", async () => {
  const { months, ...head } = await renewals();
  expect(months).toHaveLength(19);
  const of = (month: number) => months.find((one) => one.month === dayOf(month, 1));
  expect(of(-1)).toMatchObject({
    phase: "past",
    asOf: dayOf(-1, 1),
    duePayers: 3,
    dueMrr: 1_800,
    renewedMrr: 1_000,
    lostMrr: 500,
    openMrr: 300,
    scheduledMrr: 0,
    isCompared: false,
  });
  expect(of(0)).toMatchObject({ phase: "current", dueMrr: 300, openMrr: 300 });
  // The scheduled end stands apart.
  expect(of(1)).toMatchObject({
    phase: "coming",
    asOf: formatDay(todayIn(quietZone)),
    duePayers: 4,
    dueMrr: 12_000,
    scheduledPayers: 1,
    scheduledMrr: 400,
    renewedMrr: null,
    withoutRiskPayers: 4,
    withoutRiskMrr: 12_000,
    expectedMrr: null,
  });
  expect(head).toMatchObject({ isForecast: false, comparedMonths: 0, undatedPayers: 1, undatedMrr: 600 });
  expect(head).toMatchObject({ reportingCurrency: "USD", hasSubscriptions: true, day: null });
});

test("the MRR of a past month's due payers is in the MRR of the Revenue page on that day", async () => {
  const revenue = await place.owner.json<RouteAnswer<"GET /api/revenue">>(
    "GET",
    `${place.at("/api/revenue")}&periods=2`,
  );
  // The yearly one of dan is not due in this month.
  expect(revenue.periods[0]).toMatchObject({ fromDay: dayOf(-1, 1), startMrr: 1_800 + 10_000 });
});

test("a month lists its payers by date, with plan, interval and owner", async () => {
  const found = await payers(`&month=${dayOf(1, 28)}`);
  expect(found).toMatchObject({ month: dayOf(1, 1), phase: "coming", total: 5 });
  expect(
    found.payers.map(({ id, renewsOn, mrr, scheduledMrr }) => [id, renewsOn, mrr, scheduledMrr]),
  ).toEqual([
    ["eve-co", dayOf(1, 5), 0, 400],
    ["dan-co", dayOf(1, 9), 10_000, 0],
    ["ada-co", dayOf(1, 10), 1_000, 0],
    ["cyd-co", dayOf(1, 15), 300, 0],
    ["fay-co", dayOf(1, 20), 700, 0],
  ]);
  expect(found.payers[1]).toMatchObject({
    name: "dan co",
    plan: "Enterprise",
    interval: "1 year",
    owner: "Renewals owner",
    churnRisk: null,
    renewalChance: null,
    isByAttribute: false,
  });
  expect(found.payers[4]).toMatchObject({ isByAttribute: true, owner: null });
  expect(found.payers[0]?.reason).toStartWith("Cancels on ");
  expect((await payers(`&month=${dayOf(-1, 1)}`)).payers).toMatchObject([
    { id: "ada-co", renewedMrr: 1_000, lostMrr: 0, openMrr: 0, reason: null },
    { id: "bob-co", lostMrr: 500 },
    { id: "cyd-co", openMrr: 300 },
  ]);
  const second = await payers(`&month=${dayOf(1, 1)}&limit=2&offset=4`);
  expect([second.total, second.payers.map(({ id }) => id)]).toEqual([5, ["fay-co"]]);
  expect(await payers(`&month=${dayOf(1, 1)}&offset=9`)).toMatchObject({ total: 5, payers: [] });
});

test("filters are of both: interval, plan, owner, kind", async () => {
  const next = `&month=${dayOf(1, 1)}`;
  const ids = async (query: string) => (await payers(next + query)).payers.map(({ id }) => id);
  const due = async (query: string) =>
    (await renewals(query)).months.find(({ month }) => month === dayOf(1, 1))?.dueMrr;
  expect([await ids("&interval=yearly"), await due("&interval=yearly")]).toEqual([
    ["dan-co", "fay-co"],
    10_700,
  ]);
  expect([await ids("&interval=shorter"), await due("&interval=shorter")]).toEqual([
    ["eve-co", "ada-co", "cyd-co"],
    1_300,
  ]);
  expect([await ids("&plan=Enterprise"), await due("&plan=Enterprise")]).toEqual([["dan-co"], 10_000]);
  expect([await ids("&owner=me"), await due("&owner=me")]).toEqual([["dan-co"], 10_000]);
  expect(await due("&owner=nobody")).toBe(2_000);
  expect([await ids("&kind=user"), await due("&kind=user")]).toEqual([["gus"], 900]);
});

test("tables are CSV, and the commands print them", async () => {
  const csv = await place.owner.ask(
    "GET",
    `${place.at("/api/renewals/payers")}&month=${dayOf(1, 1)}&format=csv&columns=id,renewsOn,mrr`,
  );
  expect((await csv.text()).split("\r\n").slice(0, 3)).toEqual([
    "id,renewsOn,currency,mrr",
    `eve-co,${dayOf(1, 5)},USD,0.00`,
    `dan-co,${dayOf(1, 9)},USD,100.00`,
  ]);
  const months = await server.command("renewals", "--organization", name, "--csv");
  expect(months).toContain(`${dayOf(-1, 1)},past,${dayOf(-1, 1)}`);
  const printed = await server.command(
    ...["renewals", "payers", "--organization", name, "--month", dayOf(1, 1), "--interval", "yearly"],
  );
  expect(printed).toMatch(/dan-co.*100\.00 USD/);
});

describe("is refused:", () => {
  test.each([
    ["/api/renewals", "&coming=13", "coming"],
    ["/api/renewals", "&interval=weekly", "interval"],
    ["/api/renewals/payers", "&month=soon", "month"],
    ["/api/renewals/payers", `&month=${dayOf(13, 1)}`, "month"],
    ["/api/renewals/payers", `&month=${dayOf(-13, 1)}`, "month"],
  ])("%s with %s", async (path, query, named) => {
    const response = await place.owner.ask("GET", place.at(path) + query);
    await expectError(response, "validation_error", named);
  });
});

test("an organization without billing has no months", async () => {
  const other = await company(server, "Renewals of nobody");
  expect(await other.owner.json<Renewals>("GET", other.at("/api/renewals"))).toMatchObject({
    hasSubscriptions: false,
    months: [],
  });
  expect(await other.owner.json<Payers>("GET", other.at("/api/renewals/payers"))).toMatchObject({ total: 0 });
});
