/** The subscriptions of one payer: the state of each now, and their history. */

import { isUnconfirmed, type SubscriptionChange } from "../../revenue/changes.ts";
import { type HistoryEntry, historyOf } from "../../revenue/history.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";

interface Question {
  readonly organization: number;
  readonly kind: EntityKind;
  /** The number of the account or the user. */
  readonly entity: number;
  readonly nowMs: number;
  /** At most this many subscriptions, and entries of their history. */
  readonly limit: number;
  readonly history: number;
}

/** A change of a stored subscription. */
type StoredChange = Omit<SubscriptionChange, "payer" | "interval" | "trialEndsAtMs">;

export interface SubscriptionNow {
  readonly subscriptionId: string;
  readonly now: StoredChange;
  readonly startedAtMs: number;
  /** Null while it goes on. Later changes of an ended subscription move nothing. */
  readonly endedAtMs: number | null;
  readonly pastDueSinceMs: number | undefined;
  readonly isUnconfirmed: boolean;
}

export interface PayerSubscriptions {
  /** Of this payer in all. */
  readonly total: number;
  /** Those that go on first, then the one that changed last. */
  readonly subscriptions: readonly SubscriptionNow[];
  /** The newest first. */
  readonly history: readonly (HistoryEntry<StoredChange> & { readonly subscriptionId: string })[];
}

/** Of a subscription the newest changes are read: a sender may make thousands. */
const maxChanges = 100;

/** The columns of a change, in the order of `changeOf`. */
type ChangeRow = readonly [
  fromMs: number,
  status: SubscriptionChange["status"],
  plan: string,
  mrr: number,
  currency: string,
  quantity: number | null,
  periodEndMs: number | null,
  endsAtMs: number | null,
  isInvoluntary: boolean,
  lastEventMs: number,
];

interface Row {
  readonly subscriptionId: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number | null;
  readonly changes: readonly ChangeRow[];
  /** Whether older changes are left out. */
  readonly isCut: boolean;
  readonly total: number;
}

/** The subscriptions that an account pays for, or a user without an account. @throws WarehouseError */
export async function subscriptionsOf(
  warehouse: Warehouse,
  { kind, history, ...question }: Question,
): Promise<PayerSubscriptions> {
  const rows = await warehouse.rows<Row>(queryOf(kind), { ...question, maxChanges });
  const found = rows.map(({ changes, ...row }) => ({ ...row, changes: changes.map(changeOf) }));
  const entries = found.flatMap(({ subscriptionId, changes, isCut }) =>
    (isCut ? historyOf(changes.slice(1), changes[0]) : historyOf(changes)).map((entry) => ({
      ...entry,
      subscriptionId,
    })),
  );
  return {
    total: rows[0]?.total ?? 0,
    subscriptions: found.flatMap(({ subscriptionId, startedAtMs, endedAtMs, changes }) => {
      const now = changes.at(-1);
      if (now === undefined) return [];
      const paid = changes.findLastIndex(({ status }) => status !== "past_due");
      return [
        {
          subscriptionId,
          startedAtMs,
          endedAtMs,
          now,
          pastDueSinceMs: changes[paid + 1]?.fromMs,
          isUnconfirmed: isUnconfirmed(now, question.nowMs),
        },
      ];
    }),
    history: entries.toSorted((a, b) => b.now.fromMs - a.now.fromMs).slice(0, history),
  };
}

function changeOf([fromMs, status, plan, mrr, currency, ...rest]: ChangeRow): StoredChange {
  const [quantity, periodEndMs, endsAtMs, isInvoluntary, lastEventMs] = rest;
  return {
    fromMs,
    status,
    mrr,
    isInvoluntary,
    lastEventMs,
    plan: plan || undefined,
    currency: currency || undefined,
    quantity: quantity ?? undefined,
    periodEndMs: periodEndMs ?? undefined,
    endsAtMs: endsAtMs ?? undefined,
  };
}

const ms = (time: string) => `toUnixTimestamp64Milli(${time})`;

function queryOf(kind: EntityKind): string {
  const payer = kind === "account" ? "payer_account" : "payer_user";
  return `
    SELECT subscription AS subscriptionId,
      ${ms("\"from\"[arrayLastIndex((state, at) -> at < lived AND state = 'canceled', status, places) + 1]")} AS startedAtMs,
      if(lived < place, ${ms('"from"[lived + 1]')}, NULL) AS endedAtMs,
      arrayMap(at -> (${ms('"from"[at]')}, toString(status[at]), plan[at], mrr[at], toString(currency[at]), quantity[at],
          ${ms("period_end[at]")}, ${ms("ends_at[at]")}, is_involuntary[at], ${ms("last_event[at]")}),
        arrayFilter(at -> at <= place AND at > place - {maxChanges:UInt32}, places)) AS changes,
      toBool(place > {maxChanges:UInt32}) AS isCut, count() OVER () AS total
    FROM (
      SELECT *, arrayEnumerate(status) AS places,
        arrayLastIndex(start -> ${ms("start")} <= {nowMs:Int64}, "from") AS place,
        arrayLastIndex((state, at) -> at <= place AND state != 'canceled', status, places) AS lived
      FROM subscriptions FINAL
      WHERE organization = {organization:UInt32} AND subscription IN (
        SELECT subscription FROM subscriptions
        WHERE organization = {organization:UInt32} AND has(${payer}, {entity:UInt32})))
    WHERE place > 0 AND ${payer}[place] = {entity:UInt32} ${kind === "user" ? "AND payer_account[place] = 0" : ""}
    ORDER BY status[place] = 'canceled', "from"[place] DESC, subscription LIMIT {limit:UInt32}`;
}
