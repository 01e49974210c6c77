/** Scores as they are stored: a row has the columns by which lists are sorted, and the features behind the
 * scores. */
import { isAnyAccount, isIncluded } from "../../../warehouse/schema/included.ts";
import type { TraitValue } from "../../churn/columns.ts";
import { billingOf } from "../../scores/billing.ts";
import type { Features, MemberFeatures } from "../../scores/features.ts";
import type { HealthBand } from "../../scores/health.ts";
import type { State } from "../../scores/state.ts";
import type { EntityKind } from "../engagement-events.ts";
import { type FeatureRow, featuresOfRow } from "../feature-query.ts";
import { valuesByTrait } from "../health-sql.ts";
import { accountOf, seatsOf } from "../row-query.ts";

/** A row of user_scores or account_scores. */
export interface StoredScore extends Omit<FeatureRow, "cell"> {
  readonly day: number;
  readonly state: Exclude<State, "no_data">;
  readonly healthBand: HealthBand;
  readonly engagement: number | null;
  readonly momentum: number | null;
  readonly risk: number | null;
  readonly returnProbability: number | null;
  readonly health: number | null;
  /** Values of the run's parts of health of the organization's own, in their order; fewer or null for those
   * without one. */
  readonly healthValues: readonly (number | null)[];
  /** By `billingFacts`; empty without a subscription, and in scores of before they were known. */
  readonly billing: readonly (number | null)[];
  /** Which of the model's traits, as hexadecimal bits. */
  readonly traitBits: string;
  /** The model's numeric traits, in their order. Empty in scores of before. */
  readonly traitNumbers: readonly (number | null)[];
  readonly planIdleDays: number | null;
  readonly ownAccountActive28?: number | null;
  readonly ownAccountPrevious28?: number | null;
  /** Features of accounts. */
  readonly active28?: number;
  readonly activePrevious28?: number;
  readonly active90?: number;
  readonly topShare?: number;
  readonly meanRiskLogOdds?: number | null;
  readonly meanEngagement?: number;
  readonly seats?: number | null;
  readonly pulse?: number | null;
}

const commonColumns = `
  toInt32(day) AS day, state, colour AS healthBand, engagement, momentum, risk, return_probability AS returnProbability, health,
  idle_days AS idleDays, tenure_days AS tenureDays, active_days_28 AS activeDays28,
  active_days_previous_28 AS activeDaysPrevious28, active_days_84 AS activeDays84, volume_28 AS volume28,
  active_days_by_week AS activeDaysByWeek, event_names_28 AS eventNames28, event_counts_28 AS eventCounts28,
  mean_gap_days AS meanGapDays, gap_variability AS gapVariability, key_event_idle_days AS keyEventIdleDays,
  has_single_active_day AS hasSingleActiveDay,
  has_left AS hasLeft, x, t, n, adoption, health_values AS healthValues, billing,
  hex(traits) AS traitBits, trait_numbers AS traitNumbers, plan_idle_days AS planIdleDays`;

const kindColumns: Readonly<Record<EntityKind, string>> = {
  user: `user AS entity, own_account_active_28 AS ownAccountActive28, own_account_previous_28 AS ownAccountPrevious28`,
  account: `account AS entity, active_members_28 AS active28, active_members_previous_28 AS activePrevious28,
    active_members_90 AS active90, top_share AS topShare, mean_risk_log_odds AS meanRiskLogOdds,
    mean_engagement AS meanEngagement, seats, pulse`,
};

/** The columns of a `StoredScore`, for a SELECT from the kind's table. */
export function storedColumns(kind: EntityKind): string {
  return `${kindColumns[kind]}, ${commonColumns}`;
}

/** The condition of the rows of a finished run. A run that was cut off may have replaced some of them by
 * equal or later rows. */
export function rowsOfRun(kind: EntityKind): string {
  return `organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})
    AND version >= {rowsVersion:UInt64} AND ${isShown(kind)}`;
}

/** The condition of rows of entities that figures include. Users who were excluded after a run have rows of
 * it. */
export function isShown(kind: EntityKind): string {
  return kind === "user" ? isIncluded("user") : isAnyAccount;
}

/** The features of a score. @param told the traits of its day's model */
export function featuresOfStored(score: StoredScore, told: ModelTraits): Features {
  const { traitBits, traitNumbers, planIdleDays } = score;
  return featuresOfRow(score, {
    traits: traitsOf(traitBits, told.traits),
    numbers: valuesByTrait(told.numbers, traitNumbers),
    planIdleDays,
    account: accountOf(score),
    members: membersOfScore(score),
    billing: billingOf(score.billing),
    ...seatsOf(score),
  });
}

/** The traits that a model reads. */
export interface ModelTraits {
  readonly traits: readonly TraitValue[];
  /** Numeric traits. */
  readonly numbers: readonly string[];
}

function membersOfScore({
  active28,
  activePrevious28,
  active90,
  topShare,
  meanRiskLogOdds = null,
}: StoredScore): MemberFeatures | null {
  return active28 === undefined ||
    activePrevious28 === undefined ||
    active90 === undefined ||
    topShare === undefined
    ? null
    : { active28, activePrevious28, active90, topShare, meanRiskLogOdds };
}

function traitsOf(bits: string, traits: readonly TraitValue[]): Record<string, string> {
  const mask = BigInt(`0x${bits}`);
  const held = traits.filter((_, index) => ((mask >> BigInt(index)) & 1n) === 1n);
  return Object.fromEntries(held.map(({ trait, value }) => [trait, value]));
}
