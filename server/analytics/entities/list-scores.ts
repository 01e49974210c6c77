/** Scores and last days beside the rows of a list, by which lists of users and of accounts are filtered and
 * sorted. */
import type { ActivityOrder } from "../../scoring/churn/activity-order.ts";
import type { Fall } from "../../scoring/queries/lists/falls.ts";
import {
  type Moved,
  movedConditions,
  type OfRun,
  riskBandCondition,
  scoresWithChange,
} from "../../scoring/queries/lists/reading.ts";
import { type ToCallQuestion, toCallQuery } from "../../scoring/queries/lists/to-call.ts";
import type { HealthBand } from "../../scoring/scores/health.ts";
import { absoluteRiskScale, type RiskBand, type RiskLimits } from "../../scoring/scores/risk-scale.ts";
import type { State } from "../../scoring/scores/state.ts";
import { type Verdict, verdictSql } from "../../scoring/scores/verdict.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import type { Sql } from "../sql.ts";

/** The run of the scores, and the earlier run that changes are compared with. */
export interface ScoresOfList {
  /** Undefined before the first run: then no row has scores. */
  readonly run: OfRun | undefined;
  readonly earlier: OfRun | undefined;
  /** Of a run without a model: then the order by risk is that by activity. */
  readonly activityOrder?: ActivityOrder | undefined;
  /** For users: the newest run of accounts as of the same day. Members of a churned account inherit its
   * churn. */
  readonly ofAccounts?: OfRun | undefined;
}

/** A fall, and the run that the newest one is compared with; undefined when there was none so early. */
export interface ComparedFall extends Fall {
  readonly earlier: OfRun | undefined;
}

/** Only rows that match all given conditions. */
export interface ScoreFilter {
  /** `not_churned` for all but `churned` and `account_churned`. */
  readonly verdict?: Verdict | "not_churned" | undefined;
  /** `no_data` for rows without any score. */
  readonly state?: State | undefined;
  /** `none` also for rows without any score. */
  readonly healthBand?: HealthBand | undefined;
  readonly riskBand?: RiskBand | undefined;
  /** Of the run, for `verdict` and `riskBand`; left out before the first run. */
  readonly riskLimits?: RiskLimits | undefined;
  /** With an event within this many days that end today. */
  readonly seenWithinDays?: number | undefined;
  /** Without one. */
  readonly notSeenForDays?: number | undefined;
  /** Whether they have a health score and have not churned. */
  readonly isPresent?: boolean | undefined;
  /** Their health band in the earlier run; `present` is any but churned and none. */
  readonly healthBandBefore?: HealthBand | "present" | undefined;
  /** How health went since the earlier run. */
  readonly moved?: Moved | undefined;
  /** What fell. */
  readonly falls?: readonly ComparedFall[] | undefined;
  /** Of accounts: seats used, in per cent, and the pulse. */
  readonly seatsUsedFrom?: number | undefined;
  readonly seatsUsedTo?: number | undefined;
  readonly pulseFrom?: number | undefined;
  readonly pulseTo?: number | undefined;
  /** Whether they are on the call list, by these runs. */
  readonly call?: { readonly is: boolean; readonly by: ToCallQuestion | undefined } | undefined;
}

/** Scores of a row; state and health band are empty texts for rows without any. */
export interface ScoresOfRow {
  readonly state: State | "";
  readonly healthBand: HealthBand | "";
  /** Of users: whether their account has churned. */
  readonly isAccountChurned: boolean;
  readonly health: number | null;
  readonly risk: number | null;
  /** 1 for the most active. Null where a model serves, and for the churned. */
  readonly activityPosition: number | null;
  readonly engagement: number | null;
  readonly momentum: number | null;
  /** Of health since the earlier run; null when one of the two is missing. */
  readonly change: number | null;
}

/** The columns that `score` adds to a row of a list. */
export const scoreColumns =
  "score.state AS state, score.healthBand AS healthBand, score.health AS health, score.risk AS risk, " +
  "score.activityPosition AS activityPosition, score.engagement AS engagement, score.momentum AS momentum, score.change AS change";

/** By which scores lists are sorted. */
export const scoreOrders = {
  health: "score.health",
  // Where a model serves every activityPosition is null, and without one every risk.
  risk: "ifNull(score.risk, score.activityPosition)",
  engagement: "score.engagement",
  momentum: "score.momentum",
  change: "score.change",
} as const;

/** Columns that the rows of accounts have, too. */
export const seatsColumns = "score.seats AS seats, score.seatsUsed AS seatsUsed, score.pulse AS pulse";

/** By which further scores accounts are sorted. */
export const seatsOrders = {
  seats: "score.seats",
  seatsUsed: "score.seatsUsed",
  pulse: "score.pulse",
} as const;

/** Whether an order is by a score. Rows with equal scores, or without any, are sorted by their last day. */
export function isScoreOrder(order: string): boolean {
  return order.includes("score.");
}

/** Scores by `entity`, as a subquery. @param conditions on the columns of the kind's table */
export function scoresJoined(
  { run, earlier, activityOrder }: ScoresOfList,
  conditions: readonly string[] = [],
): Sql {
  if (run === undefined) return { text: noScores, parameters: {} };
  const { sql, parameters } = scoresWithChange(run, earlier, { conditions, activityOrder });
  return { text: `(${sql})`, parameters };
}

/** Joins the scores of a list's rows, as `score`. @param entity the row's number, an expression */
export function scored(selection: ScoresOfList, entity: string): Sql {
  const { text, parameters } = scoresJoined(selection);
  return condition(`LEFT JOIN ${text} AS score ON score.entity = ${entity}`, parameters);
}

const none = "CAST(NULL AS Nullable(Float64))";
const noScores = `(
  SELECT toUInt32(0) AS entity, '' AS state, '' AS healthBand, ${none} AS health, ${none} AS risk,
    CAST(NULL AS Nullable(UInt32)) AS activityPosition, ${none} AS engagement, ${none} AS momentum, ${none} AS change, '' AS healthBandBefore,
    CAST(NULL AS Nullable(UInt32)) AS seats, ${none} AS seatsUsed, CAST(NULL AS Nullable(UInt8)) AS pulse WHERE false)`;

/** The condition that an account has churned. @param account an expression, the account's number */
export function accountChurned({ ofAccounts }: ScoresOfList, account: string): Sql {
  if (ofAccounts === undefined) return condition("false");
  return condition(
    `${account} IN (
      SELECT account FROM account_scores FINAL
      WHERE organization = {organization:UInt32} AND day = ${dayParameter("accountsDay")}
        AND version >= {accountsVersion:UInt64} AND state = 'churned')`,
    { accountsDay: ofAccounts.day, accountsVersion: ofAccounts.rowsVersion },
  );
}

/**
 * The conditions of a filter on `score` and on the entity.
 * @param entity the row's number, an expression
 * @param isAccountChurned of a user's account
 */
export function scoreConditions(
  filter: ScoreFilter & ScoresOfList,
  entity: string,
  isAccountChurned: Sql = condition("false"),
): Sql[] {
  const { verdict, state, healthBand, riskBand, riskLimits = absoluteRiskScale, isPresent, moved } = filter;
  return [
    ...(verdict === undefined ? [] : [verdictCondition(verdict, riskLimits, isAccountChurned)]),
    ...(state === undefined
      ? []
      : [condition("score.state = {state:String}", { state: state === "no_data" ? "" : state })]),
    ...(healthBand === undefined
      ? []
      : [
          condition(`score.healthBand IN ({healthBand:String}${healthBand === "none" ? ", ''" : ""})`, {
            healthBand,
          }),
        ]),
    ...(riskBand === undefined
      ? []
      : [condition(`ifNull(${riskBandCondition(riskBand, riskLimits)}, false)`)]),
    ...(isPresent === undefined
      ? []
      : [condition(`${isPresent ? "" : "NOT "}(score.healthBand IN ${presentBands})`)]),
    ...(moved === undefined ? [] : [condition(`(${movedConditions[moved]})`)]),
    ...seatsConditions(filter),
    ...earlierConditions(filter, entity),
    ...callConditions(filter, entity),
  ];
}

/** Rows without the value do not match. */
function seatsConditions({ seatsUsedFrom, seatsUsedTo, pulseFrom, pulseTo }: ScoreFilter): Sql[] {
  const bounds = [
    ["100 * score.seatsUsed >= {seatsUsedFrom:UInt32}", { seatsUsedFrom }],
    ["100 * score.seatsUsed <= {seatsUsedTo:UInt32}", { seatsUsedTo }],
    ["score.pulse >= {pulseFrom:UInt8}", { pulseFrom }],
    ["score.pulse <= {pulseTo:UInt8}", { pulseTo }],
  ] as const;
  return bounds.flatMap(([text, bound]) =>
    Object.entries(bound).flatMap(([name, value]) =>
      value === undefined ? [] : [condition(`ifNull(${text}, false)`, { [name]: value })],
    ),
  );
}

function verdictCondition(
  verdict: Verdict | "not_churned",
  riskLimits: RiskLimits,
  { text, parameters }: Sql,
): Sql {
  const is = verdictSql(
    { state: "score.state", healthBand: "score.healthBand", risk: "score.risk", isAccountChurned: text },
    riskLimits,
  );
  return verdict === "not_churned"
    ? condition(`${is} NOT IN ('churned', 'account_churned')`, parameters)
    : condition(`${is} = {verdict:String}`, { ...parameters, verdict });
}

/** The health bands of those who have a health score and have not churned. */
const presentBands = "('healthy', 'watch', 'at_risk', 'onboarding')";

// Not by `score`, which only has entities that have scores now.
function earlierConditions({ healthBandBefore, earlier }: ScoreFilter & ScoresOfList, entity: string): Sql[] {
  if (healthBandBefore === undefined) return [];
  if (earlier === undefined) return [condition("false")];
  const { kind } = earlier;
  const is = healthBandBefore === "present" ? `IN ${presentBands}` : "= {healthBandBefore:String}";
  return [
    condition(
      `${entity} IN (
        SELECT ${kind} FROM ${kind}_scores FINAL
        WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {beforeDay:Int32})
          AND version >= {beforeVersion:UInt64} AND colour ${is})`,
      {
        beforeDay: earlier.day,
        beforeVersion: earlier.rowsVersion,
        ...(healthBandBefore !== "present" && { healthBandBefore }),
      },
    ),
  ];
}

function callConditions({ call }: ScoreFilter, entity: string): Sql[] {
  if (call === undefined) return [];
  if (call.by === undefined) return [condition(call.is ? "false" : "true")];
  const { sql, parameters } = toCallQuery(call.by);
  return [condition(`${entity} ${call.is ? "IN" : "NOT IN"} (SELECT entity FROM (${sql}))`, parameters)];
}

/** The conditions of a filter on a last day. @param lastDay an expression, null without any event */
export function seenConditions({ seenWithinDays, notSeenForDays }: ScoreFilter, lastDay: string): Sql[] {
  return [
    ...(seenWithinDays === undefined
      ? []
      : [
          condition(`ifNull(${lastDay} > {toDay:Int32} - {seenWithinDays:Int32}, false)`, { seenWithinDays }),
        ]),
    ...(notSeenForDays === undefined
      ? []
      : [
          condition(`ifNull(${lastDay} <= {toDay:Int32} - {notSeenForDays:Int32}, true)`, { notSeenForDays }),
        ]),
  ];
}

/** A condition with the values that it binds. */
export function condition(text: string, parameters: Sql["parameters"] = {}): Sql {
  return { text, parameters };
}

/** Pieces of a query put together, with all their values. */
export function joinedSql(pieces: readonly Sql[], between: string): Sql {
  return {
    text: pieces.map(({ text }) => text).join(between),
    parameters: Object.assign({}, ...pieces.map(({ parameters }) => parameters)),
  };
}
