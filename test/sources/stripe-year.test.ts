/** A year of Stripe's webhooks, signed, ends in the same subscriptions in any order of delivery. MRR of each
 * month was counted by hand. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { Server } from "../server.ts";
import { signed, signingSecret } from "./stripe-objects.ts";
import { type StripeForm, stripeYear } from "./stripe-year.ts";
import { identify } from "./subscription-support.ts";
import { deliver, eventsOf, withStripe } from "./webhooks-support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server?.stop());

type Row = Record<string, unknown>;

interface Sent {
  readonly rows: readonly Row[];
  readonly browser: Awaited<ReturnType<typeof withStripe>>["browser"];
}

/** Sends to an organization that accepts signed requests only. Its users are identified after half of the
 * events. */
async function sentTo(name: string, events: readonly object[]): Promise<Sent> {
  const { token, browser } = await withStripe(server, name, { signingSecrets: [signingSecret] });
  const half = Math.floor(events.length / 2);
  for (const [index, event] of events.entries()) {
    if (index === half) {
      const batch = [identify("ada"), identify("bob")];
      expect(await (await server.post("/batch", token, { batch })).json()).toMatchObject({ accepted: 2 });
    }
    const payload = JSON.stringify(event);
    const header = { "Stripe-Signature": await signed(payload) };
    expect((await deliver(server, `/v1/webhooks/stripe/${token}`, payload, header)).status).toBe(200);
  }
  return { rows: await server.exported("subscriptions", name), browser };
}

/** Changes of status and MRR of one subscription, as `month-day status MRR`. */
function historyOf(rows: readonly Row[], subscriptionId: string): string[] {
  const lines = rows
    .filter((row) => row.subscriptionId === subscriptionId)
    .map(({ from, status, mrr }) => `${String(from).slice(5, 10)} ${status} ${mrr}`);
  return lines.filter((line, index) => line.slice(6) !== lines[index - 1]?.slice(6));
}

/** The movements of each month, the involuntary part of the churn, and MRR at the month's end. */
async function monthsOf({ browser }: Sent): Promise<number[][]> {
  const path = `/api/revenue?organization=${browser.organization}&periods=12&to=2025-12-31`;
  const { periods } = await browser.json<RouteAnswer<"GET /api/revenue">>("GET", path);
  return periods.map((month) => [
    month.newMrr,
    month.reactivatedMrr,
    month.expansionMrr,
    month.contractionMrr,
    month.churnedMrr,
    month.churnedInvoluntarilyMrr,
    month.endMrr,
  ]);
}

const lifeOfAda = [
  "01-10 trialing 0",
  "01-24 active 4900",
  "02-10 active 9900",
  "03-24 active 6930",
  "05-24 active 9900",
  "06-10 active 4900",
  "07-05 paused 0",
  "08-20 active 4900",
  "09-25 past_due 4900",
  "10-02 active 4900",
  "12-24 canceled 0",
];
const lifeOfBob = ["03-15 active 4000", "05-05 active 10000", "06-15 past_due 10000", "07-02 canceled 0"];
/** new, reactivated, expansion, contraction, churned, of it involuntarily, MRR at the end */
const months = [
  [4_900, 0, 0, 0, 0, 0, 4_900],
  [0, 0, 5_000, 0, 0, 0, 9_900],
  [4_000, 0, 0, 2_970, 0, 0, 10_930],
  [0, 0, 0, 0, 0, 0, 10_930],
  [0, 0, 2_970 + 6_000, 0, 0, 0, 19_900],
  [0, 0, 0, 5_000, 0, 0, 14_900],
  [0, 0, 0, 0, 4_900 + 10_000, 10_000, 0],
  [0, 4_900, 0, 0, 0, 0, 4_900],
  [0, 0, 0, 0, 0, 0, 4_900],
  [0, 0, 0, 0, 0, 0, 4_900],
  [0, 0, 0, 0, 0, 0, 4_900],
  [0, 0, 0, 0, 4_900, 0, 0],
];

/** The same shuffle in each run. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const places = items.map((item, index) => [(index * 7_919 + 31) % 104_729, item] as const);
  return places.sort(([one], [other]) => (one % 97) - (other % 97) || one - other).map(([, item]) => item);
}

describe("a year of Stripe's webhooks", () => {
  const events = stripeYear("2024-06-20");

  test("has the MRR of each month that is counted by hand", async () => {
    const sent = await sentTo("Stripe year", events);
    const { rows } = sent;
    expect(historyOf(rows, "sub_ada")).toEqual(lifeOfAda);
    expect(historyOf(rows, "sub_bob")).toEqual(lifeOfBob);
    expect(await monthsOf(sent)).toEqual(months);
    expect(rows.map(({ isInvoluntary }) => isInvoluntary).filter(Boolean)).toEqual([true]);
    const scheduled = rows.flatMap(({ from, endsAt }) => (endsAt === null ? [] : [[from, endsAt]]));
    expect(scheduled).toEqual([
      ["2025-10-28T09:30:00.000Z", "2025-11-24T09:30:00.000Z"],
      ["2025-11-28T09:30:00.000Z", "2025-12-24T09:30:00.000Z"],
    ]);
    // The paid period goes on at each renewal.
    const periodAt = (day: string) =>
      rows.findLast(({ subscriptionId, from }) => subscriptionId === "sub_ada" && String(from) < day)
        ?.currentPeriodEnd;
    expect(periodAt("2025-03-01")).toBe("2025-03-24T09:30:00.000Z");
    expect(periodAt("2025-12-01")).toBe("2025-12-24T09:30:00.000Z");
    const money = (await eventsOf(server, "Stripe year")).filter(({ event }) =>
      ["payment_refunded", "payment_disputed"].includes(String(event)),
    );
    expect(money.map(({ userId, properties }) => [userId, (properties as Row).amount])).toEqual([
      ["ada", 1_000],
      ["ada", 4_900],
    ]);
  });

  test.each([
    ["backwards", [...events].reverse()],
    ["each twice and in no order", shuffled([...events, ...events])],
  ])("ends in the same rows %s", async (order, delivered) => {
    const sent = await sentTo(`Stripe year ${order}`, delivered);
    expect(await monthsOf(sent)).toEqual(months);
    expect(sent.rows).toEqual(await server.exported("subscriptions", "Stripe year"));
  });

  test("has the same MRR in the newest version of the API, but before discounts, of which it has ids", async () => {
    const form: StripeForm = "newest";
    const { rows } = await sentTo("Stripe year of today", stripeYear(form));
    const isDiscount = (line: string) => line.endsWith("6930") || line.startsWith("05-24");
    expect(historyOf(rows, "sub_ada")).toEqual(lifeOfAda.filter((line) => !isDiscount(line)));
    expect(historyOf(rows, "sub_bob")).toEqual(lifeOfBob);
  });
});
