/**
 * Renewals of payers by month, in SQL. A month is read as of an instant: past months and the current one as
 * of their start, coming months as of now. All months are read together, so that a year takes one query.
 */
import type { OffsetTransition } from "../../calendar/zone.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { isIncludedPayerOf } from "../../warehouse/schema/included.ts";
import { renewsDayOf } from "../entities/list-billing.ts";
import { type OwnerFilter, ownerSql } from "../entities/owners.ts";
import { localDay, type Sql, zoneParameters } from "../sql.ts";
import { convertedStates, payersInUnrated } from "./payers-now.ts";
import { type RevenueQuestion, rateParameters, unratedOf } from "./steps.ts";

/** A month, and as of when it is read. Days are days since 1970-01-01. */
export interface RenewalMonth {
  readonly fromDay: number;
  /** The first day after the month. */
  readonly untilDay: number;
  readonly fromMs: number;
  readonly asOfDay: number;
  readonly asOfMs: number;
  /** Whether payers without a known renewal are counted with this month: of one month alone. */
  readonly hasUndated: boolean;
  /** The churn risks, if they are those of losing the subscription. */
  readonly risks: {
    readonly day: number;
    readonly rowsVersion: number;
    readonly horizonDays: number;
  } | null;
}

export interface RenewalsQuestion extends RevenueQuestion, OwnerFilter {
  readonly kind: EntityKind;
  readonly nowMs: number;
  readonly transitions: readonly OffsetTransition[];
  readonly months: readonly RenewalMonth[];
  readonly interval: "all" | "yearly" | "shorter";
  readonly plan?: string | undefined;
}

const ofOrganization = "organization = {organization:UInt32}";
const msOf = (time: string) => `toUnixTimestamp64Milli(${time})`;
const dayMs = 86_400_000;
/** A subscription that ended within so many days after its renewal did not renew: it is the longest time that
 * is shorter than any month, so that the next renewal is not counted. */
const settledDays = 28;
const noRisks = -1;

/**
 * Rows of `month_at` (the place of the month, from 1), `entity`, `day` (of the first renewal or end), and MRR
 * in the reporting currency: `due`, `scheduled`, `renewed`, `lost`, `open` and `undated`; with `plan`,
 * `price_interval`, `has_attribute`, `risk` (within the horizon) and `lost_by` (the risk until the renewal).
 * The MRR of payers with a currency without a rate is unknown: they are left out. Queries need
 * `jsonSettings`.
 */
export function renewalRows(question: RenewalsQuestion): Sql {
  const { kind, organization, months, plan, interval, nowMs, transitions } = question;
  const unrated = unratedOf(question);
  const { text: states, amount } = convertedStates(question, datedStates(kind));
  const owner = ownerSql(question, kind, "");
  const isOwned =
    owner.conditions.length === 0
      ? ""
      : `AND entity IN (
          SELECT listed.${kind} FROM (SELECT * FROM ${kind}s FINAL WHERE ${ofOrganization}) AS listed
          ${owner.joins.map(({ text }) => text).join(" ")} WHERE ${owner.conditions.map(({ text }) => text).join(" AND ")})`;
  const isOfInterval = {
    all: "",
    yearly: "AND (by_attribute OR step_months >= 12)",
    shorter: "AND NOT by_attribute AND step_months < 12",
  }[interval];
  const sumOf = (outcome: string) => `sumIf(${amount}, ${outcome})`;
  const isDue = "isNotNull(due_day) AND NOT is_scheduled";
  return {
    text: `
      SELECT renewals.*, scores.risk AS risk,
        1 - pow(1 - scores.risk, greatest(day - scored_day, horizon_days) / horizon_days) AS lost_by
      FROM (
        SELECT month_at, entity, min(due_day) AS day, ${sumOf(isDue)} AS due,
          ${sumOf("isNotNull(due_day) AND is_scheduled")} AS scheduled,
          ${sumOf(`${isDue} AND outcome = 'renewed'`)} AS renewed, ${sumOf(`${isDue} AND outcome = 'lost'`)} AS lost,
          ${sumOf(`${isDue} AND outcome = 'open'`)} AS open, ${sumOf("isNull(due_day)")} AS undated,
          argMax(own_plan, ${amount}) AS plan, argMax(own_interval, ${amount}) AS price_interval,
          max(by_attribute) AS has_attribute,
          {scoredDays:Array(Int32)}[month_at] AS scored_day, {horizons:Array(Int32)}[month_at] AS horizon_days
        FROM (${states})
        WHERE true ${unrated.length === 0 ? "" : `AND entity NOT IN (${payersInUnrated(kind)})`}
          ${plan === undefined ? "" : "AND own_plan = {plan:String}"} ${isOfInterval} ${isOwned}
        GROUP BY month_at, entity) AS renewals
      LEFT JOIN (
        SELECT ${kind} AS known, toInt32(day) AS known_day, risk FROM ${kind}_scores FINAL
        WHERE ${ofOrganization}
          AND day IN (SELECT addDays(toDate32('1970-01-01'), arrayJoin({scoredDays:Array(Int32)})))
          AND version >= transform(toInt32(day), {scoredDays:Array(Int32)}, {rowsVersions:Array(UInt64)}, toUInt64(0))) AS scores
      ON scores.known = renewals.entity AND scores.known_day = renewals.scored_day`,
    parameters: {
      organization,
      nowMs,
      asOfMs: months.map((month) => month.asOfMs),
      asOfDays: months.map((month) => month.asOfDay),
      fromMs: months.map((month) => month.fromMs),
      fromDays: months.map((month) => month.fromDay),
      untilDays: months.map((month) => month.untilDay),
      undated: months.map((month) => (month.hasUndated ? 1 : 0)),
      scoredDays: months.map(({ risks }) => risks?.day ?? noRisks),
      rowsVersions: months.map(({ risks }) => risks?.rowsVersion ?? 0),
      horizons: months.map(({ risks }) => risks?.horizonDays ?? 1),
      ...zoneParameters(transitions),
      ...(question.used.some((code) => code !== question.reporting) && rateParameters(question)),
      ...(unrated.length > 0 && { unrated }),
      ...(plan !== undefined && { plan }),
      ...Object.assign({}, ...owner.conditions.map(({ parameters }) => parameters)),
    },
  };
}

/** The attribute `renewsAt` of accounts, by its times. */
const saidRenewals = `
  SELECT account AS said_account,
    arraySort(groupArray((${msOf("at")}, version, ${renewsDayOf("traits")}))) AS said
  FROM account_versions WHERE ${ofOrganization} AND position(traits, '"renewsAt":') > 0 GROUP BY account`;

/**
 * A row for each subscription and month in which it renews, or ends as scheduled: `due_day`. It is null,
 * once, where no renewal is known. A period that ended before the month is continued by the interval.
 */
function datedStates(kind: EntityKind): string {
  const isOfKind =
    kind === "account" ? "payer_account[place] != 0" : "payer_account[place] = 0 AND payer_user[place] != 0";
  const unit = (name: string, size: number) =>
    `if(own_parts[2] = '${name}', toInt32OrZero(own_parts[1]) * ${size}, 0)`;
  // A day that the month does not have is its last one, as `periodEndAfter` has it.
  const periodsLater = (more: string) =>
    msOf(`addMonths(period_ends, intDiv(passed_months, greatest(1, step_months)) * step_months${more})`);
  const ofAttribute =
    kind === "account" ? "(arrayLast(one -> one.1 <= as_of_ms, said)).3" : "CAST(NULL AS Nullable(Int32))";
  return `
    SELECT month_at, entity, own_mrr, own_currency, own_plan, own_interval, step_months, by_attribute, is_scheduled,
      due_day,
      multiIf(mrr[settled_at] = 0, 'lost',
        status[settled_at] = 'active' AND ifNull(${msOf("period_end[settled_at]")} > renews_ms, false), 'renewed', 'open') AS outcome
    FROM (
      SELECT *,
        least({nowMs:Int64}, ifNull(renews_ms, {nowMs:Int64}) + ${dayMs} * if(step_days > 0, least(${settledDays}, step_days), ${settledDays})) AS settles_ms,
        greatest(place, arrayLastIndex(start -> ${msOf("start")} < settles_ms, "from")) AS settled_at
      FROM (
        SELECT *, ifNull(said_day >= as_of_day, false) AS by_attribute,
          if(by_attribute, toInt64(assumeNotNull(said_day) + 2) * ${dayMs}, period_renews_ms) AS renews_ms,
          isNotNull(scheduled_ms) AND (isNull(renews_ms) OR scheduled_ms <= renews_ms) AS is_scheduled,
          multiIf(is_scheduled, ${localDay("intDiv(assumeNotNull(scheduled_ms), 1000)")}, by_attribute, said_day,
            isNull(renews_ms), NULL, ${localDay("intDiv(assumeNotNull(renews_ms), 1000)")}) AS due_day
        FROM (
          SELECT *, ${kind === "account" ? "payer_account" : "payer_user"}[place] AS entity,
            mrr[place] AS own_mrr, toString(currency[place]) AS own_currency, plan[place] AS own_plan,
            toString(price_interval[place]) AS own_interval, splitByChar(' ', own_interval) AS own_parts,
            ${unit("month", 1)} + ${unit("year", 12)} AS step_months,
            ${unit("day", 1)} + ${unit("week", 7)} AS step_days,
            period_end[place] AS period_ends, ${msOf("period_ends")} AS period_ms,
            ${msOf("ends_at[place]")} AS scheduled_ms, fromUnixTimestamp64Milli(from_ms, 'UTC') AS from_time,
            greatest(0, dateDiff('month', ifNull(period_ends, from_time), from_time, 'UTC')) AS passed_months,
            ${periodsLater("")} AS continued_ms,
            multiIf(isNull(period_ms), NULL, period_ms >= from_ms, period_ms,
              step_months > 0, if(continued_ms >= from_ms, continued_ms, ${periodsLater(" + step_months")}),
              step_days > 0, period_ms + intDiv(from_ms - period_ms + step_days * ${dayMs} - 1, step_days * ${dayMs}) * step_days * ${dayMs},
              NULL) AS period_renews_ms,
            ${ofAttribute} AS said_day
          FROM (
            SELECT *, as_of_ms, as_of_day, from_ms, from_day, until_day, has_undated, month_at,
              arrayLastIndex(start -> ${msOf("start")} <= as_of_ms, "from") AS place,
              payer_account[place] AS of_account
            FROM (
              SELECT "from", status, plan, mrr, currency, period_end, ends_at, payer_account, payer_user, price_interval
              FROM subscriptions FINAL WHERE ${ofOrganization} AND arrayExists(one -> one > 0, mrr)) AS stored
            ARRAY JOIN {asOfMs:Array(Int64)} AS as_of_ms, {asOfDays:Array(Int32)} AS as_of_day,
              {fromMs:Array(Int64)} AS from_ms, {fromDays:Array(Int32)} AS from_day, {untilDays:Array(Int32)} AS until_day,
              {undated:Array(UInt8)} AS has_undated, arrayEnumerate({asOfMs:Array(Int64)}) AS month_at
            WHERE place > 0 AND mrr[place] > 0 AND ${isOfKind}
              AND ${isIncludedPayerOf("payer_account[place]", "payer_user[place]")}) AS placed
          ${kind === "account" ? `LEFT JOIN (${saidRenewals}) AS attributes ON attributes.said_account = placed.of_account` : ""}))
      WHERE (due_day >= from_day AND due_day < until_day) OR (isNull(due_day) AND has_undated = 1))`;
}
