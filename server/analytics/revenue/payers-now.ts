/**
 * MRR, plan, status and renewal of payers now. They follow from the histories in `subscriptions` at one
 * instant. Rows that are shown are read and summed by `payerNow` (revenue/payer-now.ts). Orders and
 * filters of all payers are the same in SQL, with only the columns that they need: the engine would plan all
 * of them for longer than it runs. A test compares both. server/analytics/README.md has
 * the rules.
 */
import type { OffsetTransition } from "../../calendar/zone.ts";
import { type PayerNow, payerNow, type SubscriptionState } from "../../revenue/payer-now.ts";
import { conversionAt } from "../../revenue/rates.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Parameter, Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isIncludedPayerOf } from "../../warehouse/schema/included.ts";
import { localDay, type Sql, zoneParameters } from "../sql.ts";
import { halfEven, type RevenueQuestion, rateParameters, unratedOf } from "./steps.ts";

export interface PayersQuestion extends RevenueQuestion {
  /** Accounts, or users who pay without one. */
  readonly kind: EntityKind;
  readonly nowMs: number;
  /** The end of the horizon of churn risks, if they are those of losing the subscription. */
  readonly untilMs: number | null;
  /** Of the organization's timezone: renewals are days. */
  readonly transitions: readonly OffsetTransition[];
  /** Only on a payer's own page: also if the payer is excluded and counts in no figure and no list. */
  readonly withExcluded?: boolean;
}

const ofOrganization = "organization = {organization:UInt32}";
const msOf = (time: string) => `toUnixTimestamp64Milli(${time})`;
const ofPayers = (kind: EntityKind) => (kind === "account" ? "payer_account" : "payer_user");

/** Whether any subscription is paid by an account, or by a user without one. */
export async function hasPayers(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
): Promise<boolean> {
  const isOfKind = kind === "account" ? "payer != 0" : "payer = 0";
  const rows = await warehouse.rows(
    `SELECT subscription FROM subscriptions
     WHERE ${ofOrganization} AND arrayExists(payer -> ${isOfKind}, payer_account) LIMIT 1`,
    { organization },
  );
  return rows.length > 0;
}

/** Subscriptions with the columns, and `place`: of the change that holds now. Those that have not begun are
 * left out, and those of excluded payers. Changes after now are ends that are scheduled, of subscriptions and
 * of discounts. */
export function atPlace(
  columns: string,
  { and = "", withExcluded = false }: { readonly and?: string; readonly withExcluded?: boolean } = {},
): string {
  const isIncluded = isIncludedPayerOf("payer_account[place]", "payer_user[place]");
  return `
    SELECT ${columns}
    FROM (
      SELECT *, arrayLastIndex(start -> ${msOf("start")} <= {nowMs:Int64}, stored."from") AS place
      FROM subscriptions AS stored FINAL WHERE ${ofOrganization} ${and}) AS histories
    WHERE place > 0 ${withExcluded ? "" : `AND ${isIncluded}`}`;
}

type StateRow = readonly [
  status: SubscriptionState["status"],
  wasPaid: boolean,
  plan: string,
  mrr: number,
  currency: string,
  laterMrr: number,
  laterCurrency: string,
  periodEndMs: number | null,
  endsAtMs: number | null,
];

interface PayerRow {
  readonly account: number;
  readonly user: number;
  readonly state: StateRow;
}

/** These accounts or users as payers, by their numbers. Those without a subscription ever are left out. At
 * most a few thousand. */
export async function payersNow(
  warehouse: Warehouse,
  question: PayersQuestion,
  entities: readonly number[],
): Promise<ReadonlyMap<number, PayerNow>> {
  if (entities.length === 0) return new Map();
  const { organization, kind, nowMs, untilMs, reporting, rates, withExcluded = false } = question;
  const columns = `
    payer_account[place] AS account, payer_user[place] AS user,
    (toString(status[place]), ${values.was_paid}, plan[place], mrr[place], toString(currency[place]), ${values.later_mrr}, ${values.later_currency}, ${msOf("period_end[place]")}, ${msOf("ends_at[place]")}) AS state`;
  const [rows, inUnrated] = await Promise.all([
    warehouse.rows<PayerRow>(atPlace(columns, { and: subscriptionsOf(kind), withExcluded }), {
      organization,
      nowMs,
      untilMs: untilMs ?? nowMs,
      entities,
    }),
    unratedAmong(warehouse, question, entities),
  ]);
  const convert = conversionAt({ reporting, rates });
  const ofKind = rows.filter(({ account }) => (account === 0) === (kind === "user"));
  const byPayer = Map.groupBy(ofKind, ({ account, user }) => (kind === "account" ? account : user));
  const wanted = new Set(entities);
  return new Map(
    [...byPayer]
      .filter(([payer]) => wanted.has(payer))
      .map(([payer, own]) => [
        payer,
        payerNow(
          own.map(({ state }) => stateOf(state)),
          { convert, isUnrated: inUnrated.has(payer), nowMs },
        ),
      ]),
  );
}

/** A payer at an instant. */
export interface PayerAt {
  readonly entity: number;
  readonly atMs: number;
}

/** MRR of accounts, or of users who pay without one, each at an instant of its own, excluded ones too.
 * @returns in the order of what is asked; null where it is unknown, for want of a rate */
export async function mrrAt(
  warehouse: Warehouse,
  question: RevenueQuestion & { readonly kind: EntityKind },
  asked: readonly PayerAt[],
): Promise<readonly (number | null)[]> {
  if (asked.length === 0) return [];
  const { organization, kind, reporting, rates } = question;
  const entities = asked.map(({ entity }) => entity);
  const rows = warehouse.rows<PayerAt & { readonly currency: string; readonly mrrs: readonly number[] }>(
    `SELECT entity, atMs, toString(currency[held]) AS currency, groupArray(mrr[held]) AS mrrs
     FROM (
       SELECT entity, atMs, own.* EXCEPT (one_payer),
         arrayLastIndex(start -> ${msOf("start")} <= atMs, own."from") AS held
       FROM (
         SELECT arrayJoin(arrayZip({entities:Array(UInt32)}, {instants:Array(Int64)})) AS pair,
           pair.1 AS entity, pair.2 AS atMs) AS asked
       JOIN (
         SELECT "from", mrr, currency, payer_account, payer_user,
           arrayJoin(arrayDistinct(${ofPayers(kind)})) AS one_payer
         FROM subscriptions FINAL WHERE ${ofOrganization} ${subscriptionsOf(kind)}) AS own
       ON own.one_payer = asked.entity)
     WHERE held > 0 AND ${ofPayers(kind)}[held] = entity AND payer_account[held] ${kind === "account" ? "!=" : "="} 0
     GROUP BY entity, atMs, currency`,
    { organization, entities, instants: asked.map(({ atMs }) => atMs) },
  );
  const keyOf = ({ entity, atMs }: PayerAt) => `${entity} ${atMs}`;
  const [found, inUnrated] = await Promise.all([rows, unratedAmong(warehouse, question, entities)]);
  const convert = conversionAt({ reporting, rates });
  const sums = new Map<string, number>();
  for (const { mrrs, currency, ...at } of found)
    for (const mrr of mrrs) sums.set(keyOf(at), (sums.get(keyOf(at)) ?? 0) + (convert(mrr, currency) ?? 0));
  return asked.map((one) => (inUnrated.has(one.entity) ? null : (sums.get(keyOf(one)) ?? 0)));
}

function stateOf([
  status,
  wasPaid,
  plan,
  mrr,
  currency,
  laterMrr,
  laterCurrency,
  ...ends
]: StateRow): SubscriptionState {
  const [periodEndMs, endsAtMs] = ends;
  return { status, wasPaid, plan, mrr, currency, laterMrr, laterCurrency, periodEndMs, endsAtMs };
}

/** The subscriptions that any of the entities pays, or has paid. */
const subscriptionsOf = (kind: EntityKind) => `AND subscription IN (
    SELECT subscription FROM subscriptions
    WHERE ${ofOrganization} AND arrayExists(payer -> payer IN {entities:Array(UInt32)}, ${ofPayers(kind)}))`;

/** Those of the payers that ever had MRR in a currency without a rate. */
async function unratedAmong(
  warehouse: Warehouse,
  question: RevenueQuestion & { readonly kind: EntityKind },
  entities: readonly number[],
): Promise<ReadonlySet<number>> {
  const unrated = unratedOf(question);
  if (unrated.length === 0) return new Set();
  const { kind, organization } = question;
  const rows = await warehouse.rows<{ readonly payer: number }>(
    `SELECT DISTINCT payer FROM (${payersInUnrated(kind, subscriptionsOf(kind))})`,
    { organization, entities, unrated },
  );
  return new Set(rows.map(({ payer }) => payer));
}

/** Columns of all payers, which are aggregates over their subscriptions now. `hadMrr`: whether any of these
 * had MRR of the payer before `earlierMs`. `renewsDay` is the first end of a period that is still to come,
 * else the last. `firstEndMs` is the first end that is scheduled, `endSetMs` when the latest of them was
 * scheduled, and `pastDueMs` since when a payment is overdue: null without one. */
export type PayerColumn =
  | ("mrr" | "scheduled" | "plans" | "status" | "renewsDay" | "hadMrr")
  | ("firstEndMs" | "endSetMs" | "pastDueMs");

const goesOn = "state != 'canceled'";
const renews = "state IN ('active', 'past_due', 'trialing') AND isNull(endsMs)";
const aggregates: Readonly<Record<Exclude<PayerColumn, "mrr" | "scheduled">, string>> = {
  plans: `groupUniqArrayIf(named_plan, ${goesOn} AND named_plan != '')`,
  // As `statusOf` has it.
  status: `
    toNullable(multiIf(countIf(${goesOn}) = 0, if(countIf(was_paid) > 0, 'canceled', 'trial_lost'),
      countIf(state IN ('active', 'past_due')) > 0 AND countIf(${goesOn} AND isNull(endsMs)) = 0, 'canceling',
      countIf(state = 'past_due') > 0, 'past_due',
      countIf(state = 'active') > 0, 'active',
      countIf(state = 'trialing') > 0, 'trialing',
      'paused'))`,
  hadMrr: "max(own_had_mrr)",
  firstEndMs: `minOrNullIf(endsMs, ${goesOn})`,
  endSetMs: `maxOrNullIf(endsSetMs, ${goesOn})`,
  pastDueMs: `minOrNullIf(overdueMs, ${goesOn})`,
  renewsDay: `ifNull(minOrNullIf(periodEndDay, ${renews} AND periodEndMs >= {nowMs:Int64}), maxOrNullIf(periodEndDay, ${renews}))`,
};

/** The change that holds at the end of the horizon, by the ends that are scheduled. */
const laterPlace = `greatest(place, arrayLastIndex(start -> ${msOf("start")} < {untilMs:Int64}, histories."from"))`;

/** The change that held just before `earlierMs`; 0 before the first. */
const earlierPlace = `arrayLastIndex(start -> ${msOf("start")} < {earlierMs:Int64}, histories."from")`;

/** The start of the run of changes until now in which something holds; null unless it does.
 * @param holds a condition on the change of `place` @param ends the opposite on `one`, a value of the
 * column */
function sinceMs(holds: string, ends: string, column: string): string {
  const last = `arrayLastIndex((one, at) -> at <= place AND ${ends}, ${column}, arrayEnumerate(${column}))`;
  return `if(${holds}, toNullable(${msOf(`histories."from"[${last} + 1]`)}), NULL)`;
}

/** The values of a subscription's change that holds now, by name. */
const values = {
  state: "toString(status[place])",
  was_paid:
    "toBool(arrayExists((one, at) -> at <= place AND one IN ('active', 'past_due'), status, arrayEnumerate(status)))",
  named_plan: "plan[place]",
  own_mrr: "mrr[place]",
  later_mrr: `mrr[${laterPlace}]`,
  later_currency: `toString(currency[${laterPlace}])`,
  own_currency: "toString(currency[place])",
  own_had_mrr: `mrr[${earlierPlace}] > 0 AND payer_account[${earlierPlace}] = payer_account[place]
    AND (payer_account[place] != 0 OR payer_user[${earlierPlace}] = payer_user[place])`,
  endsMs: msOf("ends_at[place]"),
  endsSetMs: sinceMs("isNotNull(ends_at[place])", "isNull(one)", "ends_at"),
  overdueMs: sinceMs("status[place] = 'past_due'", "one != 'past_due'", "status"),
  periodEndMs: msOf("period_end[place]"),
  periodEndDay: `if(isNull(period_end[place]), NULL,
    ${localDay(`intDiv(${msOf("assumeNotNull(period_end[place])")}, 1000)`)})`,
} as const;

const needed: Readonly<Record<PayerColumn, readonly (keyof typeof values)[]>> = {
  mrr: ["own_mrr", "own_currency"],
  scheduled: ["own_mrr", "own_currency", "later_mrr", "later_currency"],
  hadMrr: ["own_had_mrr"],
  firstEndMs: ["state", "endsMs"],
  endSetMs: ["state", "endsSetMs"],
  pastDueMs: ["state", "overdueMs"],
  plans: ["state", "named_plan"],
  status: ["state", "was_paid", "endsMs"],
  renewsDay: ["state", "endsMs", "periodEndMs", "periodEndDay"],
};

/** A subquery of all payers: `entity` and the columns, null for rows that a join does not find. `plans` is an
 * array.
 * @param earlierMs only for `hadMrr` */
export function payersSql(
  question: PayersQuestion,
  columns: readonly PayerColumn[],
  { earlierMs = question.nowMs }: { readonly earlierMs?: number } = {},
): Sql {
  const { kind, nowMs, untilMs, organization, transitions } = question;
  const mrr = mrrOf(question);
  const names = [...new Set(columns.flatMap((column) => needed[column]))];
  const states = atPlace(
    [
      `payer_account[place] AS of_account, payer_user[place] AS of_user`,
      ...names.map((name) => `${values[name]} AS ${name}`),
    ].join(", "),
  );
  const isOfKind = kind === "account" ? "of_account != 0" : "of_account = 0 AND of_user != 0";
  const aggregateOf = (column: PayerColumn) =>
    column === "mrr" || column === "scheduled" ? mrr[column] : aggregates[column];
  const aggregated = columns.map((column) => `${aggregateOf(column)} AS ${column}`);
  const hasMrr = columns.includes("mrr") || columns.includes("scheduled");
  return {
    text: `(
      SELECT ${kind === "account" ? "of_account" : "of_user"} AS entity, ${aggregated.join(", ")}
      FROM (${hasMrr ? mrr.converted(states, columns.includes("scheduled")) : states})
      WHERE ${isOfKind}
      GROUP BY entity)`,
    parameters: {
      organization,
      nowMs,
      ...(columns.includes("scheduled") && { untilMs: untilMs ?? nowMs }),
      ...(columns.includes("hadMrr") && { earlierMs }),
      ...(hasMrr && mrr.parameters),
      ...(names.includes("periodEndDay") && zoneParameters(transitions)),
    },
  };
}

/** MRR in the reporting currency, and its part that ends as scheduled: the aggregates, the states with the
 * amounts that they need, and what they bind. */
function mrrOf(question: PayersQuestion): {
  readonly mrr: string;
  readonly scheduled: string;
  readonly converted: (states: string, hasScheduled: boolean) => string;
  readonly parameters: Readonly<Record<string, Parameter>>;
} {
  const { kind, reporting, used } = question;
  const unrated = unratedOf(question);
  const isConverted = used.some((code) => code !== reporting);
  const [now, later] = isConverted ? ["own_amount", "later_amount"] : ["own_mrr", "later_mrr"];
  const rated = (sum: string) =>
    unrated.length === 0 ? `toNullable(${sum})` : `if(entity IN (${payersInUnrated(kind)}), NULL, ${sum})`;
  return {
    mrr: rated(`sum(${now})`),
    scheduled: rated(`greatest(0, sum(${now}) - sum(${later}))`),
    converted: (states, hasScheduled) => {
      if (!isConverted) return states;
      const own = withAmount(states, "own");
      return hasScheduled ? withAmount(own, "later") : own;
    },
    parameters: {
      ...(isConverted && rateParameters(question)),
      ...(unrated.length > 0 && { unrated }),
    },
  };
}

/** States of subscriptions with `own_mrr` and `own_currency`, and the column of this MRR in the reporting
 * currency. They bind `rateParameters` where another currency is in use. */
export function convertedStates(
  { reporting, used }: RevenueQuestion,
  states: string,
): { readonly text: string; readonly amount: "own_mrr" | "own_amount" } {
  return used.some((code) => code !== reporting)
    ? { text: withAmount(states, "own"), amount: "own_amount" }
    : { text: states, amount: "own_mrr" };
}

/** The states with an amount in the reporting currency. */
function withAmount(states: string, which: "own" | "later"): string {
  return `
    SELECT * EXCEPT (rate_place, product, divisor, quotient)
    FROM (
      SELECT *, indexOf({codes:Array(String)}, ${which}_currency) + 1 AS rate_place,
        toInt128(${which}_mrr) * toInt128(arrayElement({numerators:Array(String)}, rate_place)) AS product,
        toInt128(arrayElement({denominators:Array(String)}, rate_place)) AS divisor,
        intDiv(product, divisor) AS quotient, ${halfEven} AS ${which}_amount
      FROM (${states}))`;
}

/** Payers that ever had MRR in a currency without a rate, also of subscriptions that have not begun. */
export const payersInUnrated = (kind: EntityKind, and = "") => `
  SELECT ${kind === "account" ? "one_account" : "one_user"} AS payer
  FROM subscriptions FINAL
  ARRAY JOIN mrr AS one_mrr, currency AS one_currency, payer_account AS one_account, payer_user AS one_user
  WHERE ${ofOrganization} ${and} AND one_mrr != 0 AND one_currency IN {unrated:Array(String)}
    AND one_account ${kind === "account" ? "!=" : "="} 0`;

/** Expressions of a payer's churn risk and expected loss. MRR that ends as scheduled is certain: all of it
 * makes the risk 1, and without a known risk it is what is known of the loss. @param risk null where it is
 * unknown */
export function expectedLossSql(mrr: string, scheduled: string, risk: string) {
  const certainRisk = `if(${mrr} > 0 AND ${scheduled} >= ${mrr}, 1., ${risk})`;
  const known = `nullIf(toFloat64(${scheduled}), 0)`;
  return {
    risk: certainRisk,
    loss: `ifNull(${scheduled} + (${mrr} - ${scheduled}) * ${certainRisk}, ${known})`,
  };
}

/** MRR now of all accounts or users who have any, by number. @throws WarehouseError */
export async function mrrOfPayers(
  warehouse: Warehouse,
  question: PayersQuestion,
): Promise<ReadonlyMap<number, number>> {
  const { text, parameters } = payersSql(question, ["mrr"]);
  const rows = await warehouse.rows<{ readonly entity: number; readonly mrr: number }>(
    `SELECT entity, mrr FROM ${text} WHERE ifNull(mrr, 0) > 0`,
    parameters,
  );
  return new Map(rows.map(({ entity, mrr }) => [entity, mrr]));
}

/** The MRR that at most the highest tenth of paying entities of this kind exceed. Undefined without any. */
export async function mrrOfHighestTenth(
  warehouse: Warehouse,
  question: PayersQuestion,
): Promise<number | undefined> {
  const { text, parameters } = payersSql(question, ["mrr"]);
  const [row] = await warehouse.rows<{ readonly mrr: number }>(
    `SELECT arrayReverseSort(groupArray(payer.mrr))[intDiv(count(), 10) + 1] AS mrr
     FROM ${text} AS payer WHERE payer.mrr > 0 HAVING count() > 0`,
    parameters,
  );
  return row?.mrr;
}

export interface PlanInUse {
  readonly plan: string;
  readonly subscriptions: number;
}

/** The plans of subscriptions that go on. The plan of the most subscriptions comes first. */
export function plansInUse(
  warehouse: Warehouse,
  question: Pick<PayersQuestion, "organization" | "kind" | "nowMs"> & { readonly limit: number },
): Promise<PlanInUse[]> {
  const { kind, ...bound } = question;
  const states = atPlace(
    `plan[place] AS named_plan, ${values.state} AS state, payer_account[place] AS of_account`,
  );
  return warehouse.rows<PlanInUse>(
    `SELECT named_plan AS plan, count() AS subscriptions FROM (${states})
     WHERE ${goesOn} AND named_plan != '' AND of_account ${kind === "account" ? "!=" : "="} 0
     GROUP BY named_plan ORDER BY subscriptions DESC, named_plan LIMIT {limit:UInt32}`,
    bound,
  );
}
