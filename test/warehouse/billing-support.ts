/** Billing events of a subscription, and the stored changes, for tests of the warehouse. */

import { type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { systemTime } from "../../server/process/time.ts";
import { SubscriptionKeeper } from "../../server/warehouse/upkeep/subscription-keeper.ts";
import { event, type WarehouseUnderTest } from "./support.ts";

/** A keeper whose organizations all exist, in UTC. */
export function keeperOf({ warehouse }: Pick<WarehouseUnderTest, "warehouse">): SubscriptionKeeper {
  const find = async (id: number) => ({ id, timezone: "UTC" }) as Organization;
  return new SubscriptionKeeper({
    warehouse,
    time: systemTime,
    ledger: {
      organizations: { find } as ConstructorParameters<
        typeof SubscriptionKeeper
      >[0]["ledger"]["organizations"],
    },
  });
}

/** A billing event on a day of March 2026. */
export function billed(
  organization: number,
  day: number,
  name: string,
  properties: object = {},
  some: Partial<EventRow> = {},
): EventRow {
  return event(organization, {
    event: name,
    timeMs: Date.UTC(2026, 2, day, 9, 30),
    properties: JSON.stringify({ subscriptionId: "sub_1", ...properties }),
    isActivity: false,
    ...some,
  });
}

export const price = { plan: "Team", amount: 4_900, currency: "EUR", interval: "month", quantity: 1 };

/** A life: it starts, grows, a payment fails, succeeds, and it ends. */
export function life(
  organization: number,
  subscriptionId = "sub_1",
  some: Partial<EventRow> = {},
): EventRow[] {
  const of = (day: number, name: string, properties: object = {}) =>
    billed(organization, day, name, { subscriptionId, ...properties }, some);
  return [
    of(1, "subscription_started", price),
    of(2, "payment_succeeded", { amount: 4_900, currency: "EUR" }),
    of(5, "subscription_changed", { ...price, plan: "Gold", amount: 9_900 }),
    of(7, "payment_failed", { amount: 9_900, currency: "EUR" }),
    of(9, "payment_succeeded", { amount: 9_900, currency: "EUR" }),
    of(20, "subscription_canceled"),
  ];
}

/** The changes of that life. */
export const lifeChanges = [
  "1 active Team 4900 EUR",
  "5 active Gold 9900 EUR",
  "7 past_due Gold 9900 EUR",
  "9 active Gold 9900 EUR",
  "20 canceled Gold 0 EUR",
];

/** Loads events as the loader does, with the hint for the keeper. */
export async function load(
  subject: WarehouseUnderTest,
  keeper: SubscriptionKeeper,
  events: readonly EventRow[],
): Promise<void> {
  const lines = events.map(eventRow);
  await subject.insert("events", lines);
  const batch = { number: 1, table: "events", schema: 2, rows: lines.length } as const;
  keeper.batchLoaded(batch as Parameters<typeof keeper.batchLoaded>[0], Buffer.from(`${lines.join("\n")}\n`));
}

/** The stored changes of a subscription: day, status, plan, MRR, currency. */
export async function changes(
  { warehouse }: Pick<WarehouseUnderTest, "warehouse">,
  organization: number,
  subscription = "sub_1",
): Promise<string[]> {
  const rows = await warehouse.rows<{ line: string }>(
    `SELECT concat_ws(' ', toDayOfMonth(from), toString(status), plan, toString(mrr), toString(currency)) AS line
     FROM subscriptions FINAL ARRAY JOIN from, status, plan, mrr, currency
     WHERE organization = {organization:UInt32} AND subscription = {subscription:String} ORDER BY from`,
    { organization, subscription },
  );
  return rows.map(({ line }) => line);
}

/** Every stored row of an organization's subscriptions, without its version. */
export function storedRows({ warehouse }: Pick<WarehouseUnderTest, "warehouse">, organization: number) {
  return warehouse.rows<Record<string, unknown>>(
    `SELECT * EXCEPT (version, organization, events_hash), toString(events_hash) AS hash
     FROM subscriptions FINAL WHERE organization = {organization:UInt32} ORDER BY subscription`,
    { organization },
  );
}
