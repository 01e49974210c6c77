/** Rises and falls of payers' MRR in SQL, with one row for each change of a subscription. Sums of these rows
 * are balances. Tests compare them with test/revenue/balances.ts, and docs/decisions/0073 has the reasons. */
import { currencyDigits } from "../../../contract/billing/currencies.ts";
import { minorUnitRate } from "../../revenue/rates.ts";
import { isIncludedPayerOf } from "../../warehouse/schema/included.ts";
import type { Sql } from "../sql.ts";

/** The currencies of subscriptions in the reporting one. */
export interface RevenueRates {
  readonly reporting: string;
  /** Units of the reporting currency for one unit. */
  readonly rates: Readonly<Record<string, number>>;
  /** Currencies in which subscriptions have or had MRR. */
  readonly used: readonly string[];
}

/** The question about an organization's subscriptions that all figures of revenue share. */
export interface RevenueQuestion extends RevenueRates {
  readonly organization: number;
  /** Whether subscriptions have passed from one payer to another. */
  readonly hasTransfers: boolean;
  /** `last`: the payer who has a subscription now counts as who always had it. */
  readonly payers?: "each" | "last";
}

/** Currencies in use without a rate. */
export function unratedOf({ reporting, rates, used }: RevenueRates): string[] {
  return used.filter((code) => code !== reporting && !Object.hasOwn(rates, code));
}

/** A payer is one number: that of the user, or that of the account and this. */
export const accountPayers = 4_294_967_296;

/** The number of a payer. */
export const payerOf = (account: string, user: string) =>
  `if(${account} != 0, toUInt64(${account}) + ${accountPayers}, toUInt64(${user}))`;

const ofOrganization = "organization = {organization:UInt32}";

/**
 * Rows of `payer`, `moment` (unix milliseconds), `amount_by` (what the payer's MRR rises by, in minor units
 * of the reporting currency), `transfer_by` (the part of it that passed from another payer or to one), `code`
 * (2 · moment, and 1 unless the step is an involuntary end), `is_unrated` (1 where MRR in a currency without
 * a rate begins) and, if asked for, `began_plan` (the plan of MRR that begins or changes, else empty).
 * Changes without a difference are left out, but for their plans.
 */
function stepsOf(question: RevenueQuestion, withPlan: boolean): Sql {
  const { text: source, parameters } = convertedSubscriptions(question);
  const hasUnrated = unratedOf(question).length > 0;
  const { hasTransfers } = question;
  const steps = (payer: string, [by, passed]: readonly [string, string], where: string, began: Began) => `
    SELECT ${payer} AS payer, toUnixTimestamp64Milli(start) AS moment, ${by} AS amount_by, ${passed} AS transfer_by,
      moment * 2 + if(involuntary, 0, 1) AS code, ${began.isUnrated} AS is_unrated
      ${withPlan ? `, ${began.plan} AS began_plan` : ""}
    FROM (
      SELECT *, arrayPushFront(arrayPopBack(amounts), toInt64(0)) AS earlier_amounts ${hasTransfers ? earlierPayers : ""}
      FROM (${source}))
    ARRAY JOIN starts AS start, amounts AS amount, earlier_amounts AS earlier, payer_account AS account, payer_user AS user,
      is_involuntary AS involuntary
      ${hasUnrated ? ", unrated AS without_rate" : ""} ${withPlan ? ", plan AS named_plan" : ""}
      ${hasTransfers ? ", earlier_accounts AS earlier_account, earlier_users AS earlier_user" : ""}
    WHERE ${where}`;
  const passes = "(account != earlier_account OR (account = 0 AND user != earlier_user))";
  const difference = hasTransfers ? `amount - if(${passes}, toInt64(0), earlier)` : "amount - earlier";
  const isUnrated = hasUnrated ? "without_rate" : "toUInt8(0)";
  // A change of the plan alone is no step of MRR, but says the newest plan.
  const others = [...(hasUnrated ? ["without_rate = 1"] : []), ...(withPlan ? ["amount > 0"] : [])];
  // What ends as it passes was lost by the payer before.
  const taken = hasTransfers ? `if(${passes} AND amount > 0, earlier, toInt64(0))` : "toInt64(0)";
  const own = steps(
    payerOf("account", "user"),
    [difference, taken],
    [`${difference} != 0`, ...others].join(" OR "),
    {
      isUnrated,
      plan: "if(amount > 0, named_plan, '')",
    },
  );
  if (!hasTransfers) return { text: own, parameters };
  const given = ["-earlier", "if(amount > 0, -earlier, toInt64(0))"] as const;
  const left = steps(payerOf("earlier_account", "earlier_user"), given, `earlier != 0 AND ${passes}`, {
    isUnrated: "toUInt8(0)",
    plan: "''",
  });
  return { text: `${own} UNION ALL ${left}`, parameters };
}

/** Columns about MRR that begins with a step. */
interface Began {
  readonly isUnrated: string;
  readonly plan: string;
}

/** Before its first change a subscription has the payer of that change. */
const earlierPayers = `,
  arrayPushFront(arrayPopBack(payer_account), payer_account[1]) AS earlier_accounts,
  arrayPushFront(arrayPopBack(payer_user), payer_user[1]) AS earlier_users`;

/** The payers of a subscription's changes: each its own, or the last one of them all. */
const payersOfChanges = {
  each: "payer_account, payer_user",
  last: ["payer_account", "payer_user"]
    .map((column) => `arrayMap(one -> subscriptions.${column}[-1], subscriptions.${column}) AS ${column}`)
    .join(", "),
} as const;

/** Subscriptions with the arrays `starts`, `amounts` (in the reporting currency; 0 without a rate) and, where
 * currencies are converted, `unrated` (1 where a change has MRR in a currency without a rate). */
function convertedSubscriptions(question: RevenueQuestion): Sql {
  const { organization, reporting, used } = question;
  const payers = payersOfChanges[question.payers ?? "each"];
  const columns = `subscriptions."from" AS starts, plan, ${payers}, is_involuntary`;
  const stored = `FROM subscriptions FINAL WHERE ${ofOrganization} AND length(mrr) > 0`;
  if (used.every((code) => code === reporting)) {
    return { text: `SELECT ${columns}, mrr AS amounts ${stored}`, parameters: { organization } };
  }
  return {
    text: `
      SELECT starts, plan, payer_account, payer_user, is_involuntary, unrated,
        arrayMap((product, quotient, divisor) -> ${halfEven}, products, quotients, divisors) AS amounts
      FROM (
        SELECT *, arrayMap((product, divisor) -> intDiv(product, divisor), products, divisors) AS quotients
        FROM (
          SELECT *,
            arrayMap((one, place) -> toInt128(one) * toInt128(arrayElement({numerators:Array(String)}, place)), mrr, places) AS products,
            arrayMap(place -> toInt128(arrayElement({denominators:Array(String)}, place)), places) AS divisors,
            arrayMap((one, place) -> toUInt8(one != 0 AND place = 1), mrr, places) AS unrated
          FROM (
            SELECT ${columns}, mrr,
              arrayMap(one -> indexOf({codes:Array(String)}, one) + 1, CAST(currency, 'Array(String)')) AS places
            ${stored})))`,
    parameters: { organization, ...rateParameters(question) },
  };
}

/** The largest amount that JavaScript has exactly. */
const largestAmount = "toInt128(9007199254740991)";

/** Exact division, halves to the even number, as `conversionAt` has it: an expression of `product`,
 * `quotient` and `divisor`. */
export const halfEven = `toInt64(if(quotient >= ${largestAmount}, ${largestAmount},
  quotient + if((product - quotient * divisor) * 2 > divisor
    OR ((product - quotient * divisor) * 2 = divisor AND quotient - intDiv(quotient, 2) * 2 = 1), toInt128(1), toInt128(0))))`;

/** The rates as fractions, by the places of `codes`. The first fraction, without a code, is that of unknown
 * currencies: 0. */
export function rateParameters({ reporting, rates, used }: RevenueRates) {
  const codes = [reporting, ...used.filter((code) => code !== reporting && Object.hasOwn(rates, code))];
  const fractions = codes.map((code) =>
    minorUnitRate(
      code === reporting ? 1 : (rates[code] ?? 1),
      currencyDigits(reporting) - currencyDigits(code),
    ),
  );
  return {
    codes,
    numerators: ["0", ...fractions.map(([numerator]) => String(numerator))],
    denominators: ["1", ...fractions.map(([, denominator]) => String(denominator))],
  };
}

/** A span of time: its first instant, and the first instant after it. */
export interface Span {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Rows of payers that ever had MRR, all of it in currencies with a rate: `payer`, `first_paid` (the first
 * instant with MRR), `opening` (MRR just before the span) and `steps`: `code`, `amount_by` and `transfer_by`
 * within the span, by time. Excluded payers are left out.
 * @param plan an aggregate over steps with `began_plan`, as `said`
 * @param having a condition about `first_paid`
 */
export function payersOf(
  question: RevenueQuestion,
  { fromMs, untilMs }: Span,
  { plan, having = "true" }: { readonly plan?: string | undefined; readonly having?: string } = {},
): Sql {
  const { text, parameters } = stepsOf(question, plan !== undefined);
  const isRated = unratedOf(question).length === 0 ? "" : "AND max(is_unrated) = 0";
  return {
    text: `
      SELECT payer, first_paid, opening, arraySort(unsorted) AS steps ${plan === undefined ? "" : ", said"}
      FROM (
        SELECT payer, min(moment) AS first_paid, sumIf(amount_by, moment < {fromMs:Int64}) AS opening,
          groupArrayIf((code, amount_by, transfer_by), (amount_by != 0 OR transfer_by != 0) AND moment >= {fromMs:Int64} AND moment < {untilMs:Int64}) AS unsorted
          ${plan === undefined ? "" : `, ${plan} AS said`}
        FROM (${text})
        GROUP BY payer
        HAVING ${having} ${isRated})
      WHERE ${isIncludedPayer}`,
    parameters: { ...parameters, fromMs, untilMs },
  };
}

/** The conditions that an account, or a user without one, ever paid: a query that reads attributes of payers
 * needs no others. */
export const isPaying = {
  account: `account IN (SELECT arrayJoin(payer_account) FROM subscriptions WHERE ${ofOrganization})`,
  user: `user IN (SELECT arrayJoin(arrayFilter((user, account) -> account = 0, payer_user, payer_account))
    FROM subscriptions WHERE ${ofOrganization})`,
} as const;

/** The condition that the `payer` of a row is included. */
export const isIncludedPayer = isIncludedPayerOf(
  `if(payer < ${accountPayers}, 0, toUInt32(payer))`,
  "toUInt32(payer)",
);
