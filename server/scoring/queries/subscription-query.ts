/**
 * Whether entities have left by their subscriptions, and the facts of these, for all entities at once. A test
 * compares them with test/scoring/standing.ts. The rows of `subscriptions` are histories, so the standing
 * on any day follows from them, and no snapshot has it. An account pays for the subscriptions whose rows
 * carry it, a user for those of no account.
 */
import { msPerDay } from "../../calendar/zone.ts";
import { billingInstants, daysOfUnits, yearlyFromDays } from "../scores/billing.ts";
import type { Population } from "./engagement-events.ts";
import type { Query } from "./query.ts";
import { seatsOfQuantity } from "./seats-query.ts";

const msOf = (time: string) => `toUnixTimestamp64Milli(${time})`;
const isPaid = (status: string) => `(${status} = 'active' OR ${status} = 'past_due')`;
/** Of an array with a value for each change: the value that held at the index. */
const heldAt = (array: string, index: string) => `${array}[${index}]`;

/**
 * Rows (entity, hasLeft, isPaying, endedMs, isInvoluntary, boughtSeats, billing) at the start of a day, of
 * entities that ever had a subscription by then. `billing` has `billingFacts`, `endedMs` and `isInvoluntary`
 * are those of `SubscriptionEnd`, and `boughtSeats` the seats by the quantities of subscriptions that go on.
 * @param name of the parameters: a statement may ask for several days
 */
export function standingQuery(population: Population, day: number, name: string): Query {
  const { organization, entity, zone } = population;
  const { atMs, comparedMs, failedFromMs, trialUntilMs } = billingInstants(zone, day);
  return {
    sql: `
      SELECT entity,
        toBool(countIf(live) = 0 AND countIf(everPaid) > 0) AS hasLeft,
        toBool(countIf(paying) > 0) AS isPaying,
        maxIf(endMs, everPaid AND NOT live) AS endedMs,
        sum(seatsNow) AS boughtSeats,
        toBool(argMaxIf(involuntary, (endMs, NOT involuntary), everPaid AND NOT live)) AS isInvoluntary,
        if(countIf(live) = 0, []::Array(Nullable(Float64)), [${factColumns.join(", ")}]::Array(Nullable(Float64))) AS billing
      FROM (${statusesSql(population, name)})
      GROUP BY entity`,
    parameters: {
      organization,
      [`${name}Ms`]: atMs,
      [`${name}ComparedMs`]: comparedMs,
      [`${name}FailedMs`]: failedFromMs,
      [`${name}TrialMs`]: trialUntilMs,
      ...(entity !== undefined && { entity }),
    },
  };
}

/** Rows (entity, billing, boughtSeats) as of a day. */
export function billedQuery(population: Population, day: number): Query {
  const standing = standingQuery(population, day, "billed");
  return { ...standing, sql: `SELECT entity, billing, boughtSeats FROM (${standing.sql})` };
}

/** In the order of `billingFacts`. */
const factColumns = [
  "toFloat64(countIf(paying) > 0)",
  "toFloat64(sum(mrrNow))",
  "toFloat64(countIf(yearly AND live) > 0)",
  "maxIf(age, live)",
  "minOrNullIf(daysLeft, live)",
  "if(countIf(live AND isNull(scheduledMs)) = 0, toFloat64(maxOrNullIf(scheduledMs, live)), NULL)",
  "toFloat64(countIf(failed AND live) > 0)",
  "toFloat64(countIf(trialEnding AND live) > 0)",
  "toFloat64(sum(mrrNow) < sum(mrrThen) OR sum(quantityNow) < sum(quantityThen))",
  "toFloat64(countIf(statusNow = 'past_due') > 0)",
];

/** A row for each subscription with a change before the instant: `statusAt`. */
function statusesSql({ kind, entity }: Population, name: string): string {
  const states = "status, arrayEnumerate(status)";
  const interval = `splitByChar(' ', toString(${heldAt("price_interval", "nowAt")}))`;
  const units = Object.keys(daysOfUnits).map((unit) => `'${unit}'`);
  return `
    SELECT ${heldAt(kind === "account" ? "payer_account" : "payer_user", "nowAt")} AS entity,
      toString(${heldAt("status", "nowAt")}) AS statusNow,
      toString(${heldAt("status", "thenAt")}) AS statusThen,
      statusNow != 'canceled' AS live,
      ${isPaid("statusNow")} AS paying,
      arrayLastIndex((state, index) -> index <= nowAt AND ${isPaid("state")}, ${states}) AS lastPaid,
      lastPaid > 0 AS everPaid,
      arrayFirstIndex((state, index) -> index > lastPaid AND state = 'canceled', ${states}) AS endAt,
      ${msOf(heldAt("`from`", "endAt"))} AS endMs,
      ${heldAt("is_involuntary", "endAt")} AS involuntary,
      arrayLastIndex((state, index) -> index <= nowAt AND state = 'canceled', ${states}) + 1 AS begunAt,
      ({${name}Ms:Int64} - ${msOf(heldAt("`from`", "begunAt"))}) / ${msPerDay} AS age,
      if(isNull(${heldAt("period_end", "nowAt")}), NULL,
        greatest(0., (${msOf(heldAt("period_end", "nowAt"))} - {${name}Ms:Int64}) / ${msPerDay})) AS daysLeft,
      ${msOf(heldAt("ends_at", "nowAt"))} AS scheduledMs,
      ${heldAt("mrr", "nowAt")} AS mrrNow,
      ${heldAt("mrr", "thenAt")} AS mrrThen,
      if(paying, ifNull(${heldAt("quantity", "nowAt")}, 0), 0) AS quantityNow,
      if(live, ${seatsOfQuantity(heldAt("quantity", "nowAt"))}, 0) AS seatsNow,
      if(${isPaid("statusThen")}, ifNull(${heldAt("quantity", "thenAt")}, 0), 0) AS quantityThen,
      toUInt32OrZero(${interval}[1])
        * transform(${interval}[2], [${units.join(", ")}], [${Object.values(daysOfUnits).join(", ")}], 0)
          >= ${yearlyFromDays} AS yearly,
      subscription IN (
        SELECT subscription FROM billing_events
        WHERE organization = {organization:UInt32} AND event = 'payment_failed' AND subscription != ''
          AND ${msOf("time")} >= {${name}FailedMs:Int64} AND ${msOf("time")} < {${name}Ms:Int64}) AS failed,
      statusNow = 'trialing' AND ifNull(${msOf(heldAt("trial_ends_at", "nowAt"))} >= {${name}Ms:Int64}
        AND ${msOf(heldAt("trial_ends_at", "nowAt"))} <= {${name}TrialMs:Int64}, false) AS trialEnding
    FROM (
      SELECT *,
        arrayCount(began -> ${msOf("began")} < {${name}Ms:Int64}, \`from\`) AS nowAt,
        arrayCount(began -> ${msOf("began")} < {${name}ComparedMs:Int64}, \`from\`) AS thenAt
      FROM subscriptions FINAL WHERE organization = {organization:UInt32})
    WHERE nowAt > 0 AND entity != 0 ${kind === "user" ? `AND ${heldAt("payer_account", "nowAt")} = 0` : ""}
      ${entity === undefined ? "" : "AND entity = {entity:UInt32}"}`;
}
