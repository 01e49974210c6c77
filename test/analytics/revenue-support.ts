/** Random histories of subscriptions, as rows of the warehouse and as the pure figures read them. */

import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { subscriptions } from "../../server/warehouse/schema/billing-tables.ts";
import type { Random } from "../../simulation/random.ts";
import type { MrrChange } from "../revenue/balances.ts";

export interface History {
  readonly currencies: readonly string[];
  /** Whether subscriptions pass to other payers. */
  readonly hasTransfers: boolean;
  readonly subscriptions: number;
  readonly beginMs: number;
  readonly endMs: number;
}

/** A change of a subscription, with the payer as numbers. */
interface Change extends MrrChange {
  readonly account: number;
  readonly user: number;
  readonly plan: string;
}

const plans = ["Free", "Team", "Gold", ""];
const dayMs = 86_400_000;

/** The changes of all subscriptions: those of one subscription by time, at different instants. */
export function randomChanges(random: Random, { currencies, hasTransfers, ...history }: History): Change[] {
  return Array.from({ length: history.subscriptions }, (_, index) => {
    const currency = random.pick(currencies);
    let payer = randomPayer(random);
    return instantsOf(random, history).map((fromMs): Change => {
      if (hasTransfers && random.chance(0.15)) payer = { ...payer, account: random.between(1, 12) };
      const mrr = random.chance(0.35) ? 0 : random.pick([1, 2, 3, 100, 4_900, random.between(1, 1_000_000)]);
      const isInvoluntary = mrr === 0 && random.chance(0.5);
      return {
        subscription: `sub_${index}`,
        payer: payerName(payer),
        ...payer,
        fromMs,
        mrr,
        currency,
        isInvoluntary,
        plan: random.pick(plans),
      };
    });
  }).flat();
}

/** Some of them are first instants of days, as edges are. */
function instantsOf(
  random: Random,
  { beginMs, endMs }: Pick<History, "beginMs" | "endMs">,
): readonly number[] {
  const days = Math.floor((endMs - beginMs) / dayMs);
  const instants = Array.from(
    { length: random.between(1, 6) },
    () => beginMs + random.between(0, days) * dayMs + random.pick([0, 0, 1, random.between(0, dayMs - 1)]),
  );
  return [...new Set(instants)].sort((a, b) => a - b);
}

function randomPayer(random: Random): { account: number; user: number } {
  const user = random.between(1, 15);
  return { account: random.chance(0.3) ? 0 : random.between(1, 12), user };
}

/** The name of a payer in the pure figures. */
export function payerName({ account, user }: { readonly account: number; readonly user: number }): string {
  return account === 0 ? `user ${user}` : `account ${account}`;
}

/** Columns of a change beside its MRR and payer. */
interface Details {
  readonly status: string;
  readonly period_end: number | null;
  readonly ends_at: number | null;
}

const plain = ({ mrr }: Change): Details => ({
  status: mrr > 0 ? "active" : "canceled",
  period_end: null,
  ends_at: null,
});

/** Any status that its MRR allows, and times that it may have. */
export const randomDetails =
  (random: Random) =>
  ({ mrr, fromMs }: Change): Details => ({
    status: random.pick(mrr > 0 ? ["active", "past_due"] : ["canceled", "paused", "trialing"]),
    period_end: random.chance(0.3) ? null : fromMs + random.between(0, 400 * dayMs),
    ends_at: random.chance(0.6) ? null : fromMs + random.between(0, 400 * dayMs),
  });

/** Stores the changes as rows of `subscriptions`. */
export async function store(
  warehouse: Warehouse,
  organization: number,
  changes: readonly Change[],
  detailsOf: (change: Change) => Details = plain,
): Promise<void> {
  const detailed = changes.map((change) => ({ ...change, ...detailsOf(change) }));
  const rows = [...Map.groupBy(detailed, ({ subscription }) => subscription)].map(([subscription, own]) => [
    organization,
    subscription,
    1,
    "test",
    own.length,
    1,
    ...Object.values(changeColumns).map((read) => own.map(read)),
  ]);
  const columns = ["organization", "subscription", "version", "rules", "events", "events_hash"];
  const body = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await warehouse.insertInto(subscriptions.name, [...columns, ...Object.keys(changeColumns)], {
    rows: rows.length,
    body,
    token: crypto.randomUUID(),
  });
}

const changeColumns: Readonly<Record<string, (change: Change & Details) => unknown>> = {
  from: ({ fromMs }) => fromMs,
  status: ({ status }) => status,
  period_end: ({ period_end }) => period_end,
  ends_at: ({ ends_at }) => ends_at,
  plan: ({ plan }) => plan,
  mrr: ({ mrr }) => mrr,
  currency: ({ currency }) => currency ?? "",
  payer_account: ({ account }) => account,
  payer_user: ({ user }) => user,
  is_involuntary: ({ isInvoluntary }) => isInvoluntary,
};
