/** Rows of several answers of the JSON API: users in lists, events on timelines. */

import { isJsonObject } from "../../contract/json.ts";
import type { ScoresOfRow } from "../analytics/entities/list-scores.ts";
import type { AccountListRow, UserListRow } from "../analytics/entities/lists.ts";
import type { AccountTimelineEvent, TimelineEvent } from "../analytics/entities/timeline.ts";
import { dayOrNull, formatDay } from "../calendar/days.ts";
import { instant } from "../calendar/instant.ts";
import { fieldsOfPages } from "../intake/decide/page-marks.ts";
import type { FieldTimestamps } from "../ledger/entities.ts";
import type { StoredExclusionRule } from "../ledger/stores/exclusions.ts";
import { riskBandOf } from "../scoring/scores/risk-scale.ts";
import { verdictOf } from "../scoring/scores/verdict.ts";
import { baseRateOf, type Run, riskScaleOfRun } from "./score-context.ts";

/** The fields of a user or an account that a page said last, as `saidByPages` names them. */
export function saidByPages(of: FieldTimestamps): string[] {
  return fieldsOfPages(of).map((field) => field.replace(/^properties\./, "traits."));
}

/** A user of a list, without scores. */
export function listedUser(row: UserListRow) {
  const { userId, email, accountId, accountName, isAccountOwner, isExcluded } = row;
  const traits = objectIn(row.traits);
  return {
    userId,
    email,
    name: typeof traits.name === "string" ? traits.name : null,
    accountId,
    accountName,
    isAccountOwner,
    isExcluded,
    firstIdentifiedAt: instant(row.firstIdentifiedAtMs),
    firstSeenDay: dayOrNull(row.firstDay),
    lastSeenDay: dayOrNull(row.lastDay),
    traits,
  };
}

/** An account of a list, without scores. */
export function listedAccount(row: AccountListRow) {
  const { accountId, name, avatar, members, activeMembers, seats, seatsUsed, pulse } = row;
  return {
    accountId,
    name,
    avatar,
    createdAt: instant(row.createdAtMs),
    members,
    activeMembers,
    seats,
    seatsUsed,
    pulse,
    firstSeenDay: dayOrNull(row.firstDay),
    lastSeenDay: dayOrNull(row.lastDay),
    traits: objectIn(row.traits),
  };
}

/** The scores of a row of a list. @param run their run; undefined before the first */
export function listedScores(row: ScoresOfRow, run: Run | undefined) {
  const { state, healthBand, health, risk, activityPosition, engagement, momentum, change } = row;
  return {
    verdict: verdictOf(row, riskScaleOfRun(run)),
    state: state === "" ? ("no_data" as const) : state,
    healthBand: healthBand === "" ? ("none" as const) : healthBand,
    health,
    risk,
    activityPosition,
    engagement,
    momentum,
    ...comparedRisk(risk, run),
    change,
  };
}

/** An exclusion rule. */
export function exclusionRule({ id, kind, key, value, createdAtMs }: StoredExclusionRule) {
  return { id, kind, key, value, createdAt: instant(createdAtMs) };
}

/** An event of a timeline. */
export function timelineEvent(row: TimelineEvent & { readonly label: string | null }) {
  const { id, event, label, isActivity, timeMs, receivedAtMs, properties } = row;
  return {
    id,
    event,
    label,
    isActivity,
    timestamp: instant(timeMs),
    receivedAt: instant(receivedAtMs),
    properties: objectIn(properties),
  };
}

/** An event of any user. */
export function eventOfUser(row: AccountTimelineEvent & { readonly label: string | null }) {
  return { ...timelineEvent(row), userId: row.userId, userLabel: row.userLabel };
}

/** The first and the last day of a row as texts. */
export function withSpan<Row extends { readonly firstDay: number; readonly lastDay: number }>(row: Row) {
  return { ...row, firstDay: formatDay(row.firstDay), lastDay: formatDay(row.lastDay) };
}

/** The band of a churn risk and its ratio to the base rate; null without a risk, or without a base rate.
 * @param run its run */
export function comparedRisk(risk: number | null, run: Run | undefined) {
  return risk === null || run === undefined
    ? { riskBand: null, ratioToBaseRate: null }
    : { riskBand: riskBandOf(risk, run.body.riskScale), ratioToBaseRate: ratioToBaseRate(risk, run) };
}

/** A churn risk as a multiple of the base rate of its run; null without a base rate. */
export function ratioToBaseRate(risk: number, run: Run): number | null {
  const baseRate = baseRateOf(run);
  return baseRate === null || baseRate === 0 ? null : risk / baseRate;
}

/** The object that JSON text has; an empty one for anything else. */
export function objectIn(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? { ...value } : {};
}
