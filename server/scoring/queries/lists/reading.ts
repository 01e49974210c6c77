/** Reads scores that runs have stored: of one entity, of a page of them, and of all together. */
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { type ActivityOrder, activityOrderOf } from "../../churn/activity-order.ts";
import type { CountedCell } from "../../churn/bgbb-fit.ts";
import type { HealthBand } from "../../scores/health.ts";
import type { RiskBand, RiskLimits } from "../../scores/risk-scale.ts";
import type { State } from "../../scores/state.ts";
import type { RiskLimitsSql } from "../../scores/verdict.ts";
import type { EntityKind } from "../engagement-events.ts";
import { nameOf } from "../names.ts";
import type { Query } from "../query.ts";
import { activityPosition, isOrdered } from "./activity-order.ts";
import { isMovedByRules, shiftsBetween } from "./shifts.ts";
import { isShown, rowsOfRun, type StoredScore, storedColumns } from "./stored-score.ts";

/** Days between the newest scores and the scores that changes are compared with, unless a question says since
 * when. */
export const monthDays = 28;

/** The scores of one finished run. */
export interface OfRun {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly day: number;
  readonly rowsVersion: number;
}

/** The score of one entity; undefined when there was no engagement event before that day. */
export async function scoreOf(
  warehouse: Warehouse,
  { kind, ...run }: OfRun,
  entity: number,
): Promise<StoredScore | undefined> {
  const [row] = await warehouse.rows<StoredScore>(
    `SELECT ${storedColumns(kind)}
     FROM (SELECT * FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)} AND ${kind} = {entity:UInt32})`,
    { ...run, entity },
  );
  return row;
}

/** The share of entities active in 28 days whose engagement is lower, 0…1; null when there are none. */
export async function engagementRank(
  warehouse: Warehouse,
  { kind, ...run }: OfRun,
  engagement: number,
): Promise<number | null> {
  const [row] = await warehouse.rows<{ lower: number; all: number }>(
    `SELECT countIf(engagement < {engagement:Float64}) AS lower, count() AS all
     FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)} AND active_days_28 > 0`,
    { ...run, engagement },
  );
  return row === undefined || row.all === 0 ? null : row.lower / row.all;
}

/** The order by activity of all entities of a run that have not churned. The engine counts histories, at most
 * 2,951: no entity's row leaves it. */
export async function orderByActivity(warehouse: Warehouse, { kind, ...run }: OfRun): Promise<ActivityOrder> {
  const counted = await warehouse.rows<CountedCell>(
    `SELECT x, t, n, count() AS count FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)} AND ${isOrdered}
     GROUP BY x, t, n ORDER BY n, t, x`,
    run,
  );
  return activityOrderOf(counted);
}

export interface DayScore {
  readonly day: number;
  readonly state: StoredScore["state"];
  readonly healthBand: HealthBand;
  readonly health: number | null;
  readonly risk: number | null;
  readonly engagement: number | null;
  readonly momentum: number | null;
}

/** One entity's scores of all days between two, both included, that have a finished run. */
export function historyOf(
  warehouse: Warehouse,
  kind: EntityKind,
  question: { organization: number; entity: number; fromDay: number; toDay: number },
): Promise<DayScore[]> {
  const day = (name: string) => `addDays(toDate32('1970-01-01'), {${name}:Int32})`;
  return warehouse.rows<DayScore>(
    `SELECT toInt32(day) AS day, state, colour AS healthBand, health, risk, engagement, momentum
     FROM (SELECT * FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32} AND ${kind} = {entity:UInt32}
         AND day BETWEEN ${day("fromDay")} AND ${day("toDay")} AND ${isShown(kind)}) AS scores
     INNER JOIN (SELECT day, rows_version AS rowsVersion FROM score_records FINAL
       WHERE organization = {organization:UInt32} AND kind = '${kind}' AND what = 'run') AS runs USING (day)
     WHERE version >= rowsVersion ORDER BY day`,
    question,
  );
}

export interface ListedScore extends DayScore {
  /** 1 for the most active. Null where a model serves, and for the churned. */
  readonly activityPosition: number | null;
  /** The number of the user or the account. */
  readonly entity: number;
  readonly id: string;
  /** A user's name, else their e-mail address, else their id; an account's name. */
  readonly label: string;
  /** The change of health since the earlier run; null when one of the two is missing. */
  readonly change: number | null;
}

export type ListSort = "health" | "risk" | "engagement" | "change";

export interface ListQuestion {
  readonly run: OfRun;
  /** The earlier run that changes are compared with. */
  readonly earlier: OfRun | undefined;
  /** Of a run without a model: then the order by risk is that by activity. */
  readonly activityOrder?: ActivityOrder | undefined;
  readonly state?: string;
  readonly healthBand?: string;
  readonly riskBand?: RiskBand;
  /** Of the run. */
  readonly riskLimits: RiskLimits;
  readonly sort: ListSort;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** A page of scores in order; rows without a value to order by come last. */
export async function listScores(warehouse: Warehouse, question: ListQuestion): Promise<ListedScore[]> {
  const { kind } = question.run;
  const { sql, parameters } = selectionQuery(question);
  const by =
    question.sort === "risk" && question.activityOrder !== undefined ? "activityPosition" : question.sort;
  const order = `${by} ${question.descending ? "DESC" : "ASC"} NULLS LAST, entity`;
  return warehouse.rows<ListedScore>(
    `SELECT entity, id, label, day, state, healthBand, health, risk, activityPosition, engagement, momentum, change
     FROM (${sql} ORDER BY ${order} LIMIT {limit:UInt32} OFFSET {offset:UInt32}) AS page
     LEFT JOIN (${nameOf(kind)}) AS names USING (entity)
     ORDER BY ${order} SETTINGS allow_simdjson = 0`,
    { ...parameters, limit: question.limit, offset: question.offset },
  );
}

/** How many there are on all pages. */
export async function countListed(warehouse: Warehouse, question: ListQuestion): Promise<number> {
  const { sql, parameters } = selectionQuery(question);
  const [row] = await warehouse.rows<{ count: number }>(`SELECT count() AS count FROM (${sql})`, parameters);
  return row?.count ?? 0;
}

function selectionQuery(question: ListQuestion): Query {
  const { run, earlier, activityOrder, state, healthBand, riskBand, riskLimits } = question;
  const conditions = [
    ...(state === undefined ? [] : ["state = {state:String}"]),
    ...(healthBand === undefined ? [] : ["colour = {healthBand:String}"]),
    ...(riskBand === undefined ? [] : [riskBandCondition(riskBand, riskLimits)]),
  ];
  const { sql, parameters } = scoresWithChange(run, earlier, { conditions, activityOrder });
  return {
    sql,
    parameters: {
      ...parameters,
      ...(state !== undefined && { state }),
      ...(healthBand !== undefined && { healthBand }),
    },
  };
}

/** Columns of a row of account_scores: seats used is active members of 28 days ÷ seats. */
const seatsOfRow = "seats, active_members_28 / nullIf(seats, 0) AS seatsUsed, pulse";

/** The scores of a run by `entity`, with the `change` of health since an earlier one and the
 * `healthBandBefore`, which is empty for entities without an earlier band. Changes by another model or other
 * settings are left out: an entity whose band changed only by them has its new band before, too. Accounts
 * also have `seats`, `seatsUsed` and `pulse`.
 * @param conditions on the columns of the kind's table
 * @param activityOrder for `activityPosition`, which is null without it */
export function scoresWithChange(
  { kind, ...ofRun }: OfRun,
  earlier: OfRun | undefined,
  {
    conditions = [],
    activityOrder,
  }: { readonly conditions?: readonly string[]; readonly activityOrder?: ActivityOrder | undefined } = {},
): Query {
  const position = activityPosition(activityOrder);
  const [seats, ofSeats] = kind === "account" ? [", seats, seatsUsed, pulse", `, ${seatsOfRow}`] : ["", ""];
  const before =
    earlier === undefined
      ? `SELECT toUInt32(0) AS entity, CAST(NULL AS Nullable(Float64)) AS before, '' AS bandBefore, 0. AS byRules, '' AS bandFirst, '' AS bandLast WHERE false`
      : `SELECT entity, before, bandBefore, byRules, bandFirst, bandLast
         FROM (
           SELECT ${kind} AS entity, health AS before, toString(colour) AS bandBefore FROM ${kind}_scores FINAL
           WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {earlierDay:Int32})
             AND version >= {earlierVersion:UInt64} AND ${isShown(kind)}) AS stored
         LEFT JOIN ${shiftsBetween(kind, "earlierDay", "day")} AS shifts USING (entity)`;
  return {
    sql: `
      SELECT entity, day, state, healthBand, health, risk, activityPosition, engagement, momentum,
        health - before - byRules AS change, if(${isMovedByRules("bandBefore", "toString(healthBand)")}, toString(healthBand), bandBefore) AS healthBandBefore ${seats}
      FROM (SELECT ${kind} AS entity, toInt32(day) AS day, state, colour AS healthBand, health, risk,
          ${position.sql} AS activityPosition, engagement, momentum ${ofSeats}
        FROM (SELECT * FROM ${kind}_scores FINAL WHERE ${[rowsOfRun(kind), ...conditions].join(" AND ")})) AS scores
      LEFT JOIN (${before}) AS earlier USING (entity)`,
    parameters: {
      ...ofRun,
      ...position.parameters,
      ...(earlier !== undefined && { earlierDay: earlier.day, earlierVersion: earlier.rowsVersion }),
    },
  };
}

/** Rows (entity, risk, state) of all scores of a run. The risk is null for an entity without a churn risk. */
export function risksOfRun({ kind, ...ofRun }: OfRun): Query {
  return {
    sql: `SELECT ${kind} AS entity, risk, state FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)}`,
    parameters: { ...ofRun },
  };
}

const of = (...names: (State | HealthBand | "")[]) => names.map((name) => `'${name}'`).join(", ");
// From worse to better; onboarding is neither.
const rank = (band: string) => `indexOf([${of("churned", "at_risk", "watch", "healthy")}], ${band})`;
const [rankBefore, rankNow] = [rank("healthBandBefore"), rank("healthBand")];
const went = (way: string) =>
  `state IN (${of("active", "inactive", "canceling")}) AND healthBandBefore != ${of("churned")} AND ifNull(change ${way} 0, false)`;

/** How health went between two runs, as conditions on the columns of `scoresWithChange`. An empty band is
 * that of no row. */
export const movedConditions = {
  changed: `healthBandBefore NOT IN (healthBand, ${of("")}) AND healthBand != ${of("")}`,
  worse: `${rankNow} > 1 AND ${rankNow} < ${rankBefore}`,
  better: `${rankBefore} > 1 AND ${rankNow} > ${rankBefore}`,
  fell: went("<"),
  rose: went(">"),
  churned: `healthBand = ${of("churned")} AND healthBandBefore NOT IN (${of("churned", "")})`,
  returned: `healthBandBefore = ${of("churned")} AND healthBand NOT IN (${of("churned", "none", "")})`,
} as const;

export type Moved = keyof typeof movedConditions;

/** A condition on a score's `risk`. @param limits of its run */
export function riskBandCondition(riskBand: RiskBand, { medium, high }: RiskLimitsSql): string {
  return {
    low: `risk < ${medium}`,
    medium: `risk >= ${medium} AND risk < ${high}`,
    high: `risk >= ${high}`,
  }[riskBand];
}

export interface BandCount {
  readonly healthBand: HealthBand;
  /** Null without a churn risk. */
  readonly riskBand: RiskBand | null;
  readonly count: number;
}

/** How many entities are in each health band and risk band. @param limits of the run */
export function countBands(
  warehouse: Warehouse,
  { kind, ...run }: OfRun,
  { medium, high }: RiskLimits,
): Promise<BandCount[]> {
  return warehouse.rows<BandCount>(
    `SELECT colour AS healthBand, multiIf(isNull(risk), NULL, risk >= ${high}, 'high', risk >= ${medium}, 'medium', 'low') AS riskBand, count() AS count
     FROM (SELECT * FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)}) GROUP BY healthBand, riskBand ORDER BY healthBand, riskBand`,
    run,
  );
}

export interface Movement {
  /** Null for entities that did not exist yet, or do not any more. */
  readonly from: HealthBand | null;
  readonly to: HealthBand | null;
  readonly count: number;
  /** How many of `count` moved only because the model, the scale or the settings changed. */
  readonly byRules: number;
}

/** How many entities moved from one health band to another between two runs. */
export function movementBetween(warehouse: Warehouse, run: OfRun, earlier: OfRun): Promise<Movement[]> {
  const { kind, ...ofRun } = run;
  return warehouse.rows<Movement>(
    `SELECT nullIf(earlierBand, '') AS \`from\`, nullIf(nowBand, '') AS \`to\`, count() AS count,
       countIf(${isMovedByRules("earlierBand", "nowBand")}) AS byRules
     FROM (SELECT ${kind} AS entity, toString(colour) AS nowBand FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)}) AS now
     FULL JOIN (SELECT ${kind} AS entity, toString(colour) AS earlierBand FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {earlierDay:Int32})
         AND version >= {earlierVersion:UInt64} AND ${isShown(kind)}) AS earlier USING (entity)
     LEFT JOIN ${shiftsBetween(kind, "earlierDay", "day")} AS shifts USING (entity)
     GROUP BY earlierBand, nowBand ORDER BY earlierBand, nowBand`,
    { ...ofRun, earlierDay: earlier.day, earlierVersion: earlier.rowsVersion },
  );
}

/** The number of the account with this id of its own; undefined when there is none. */
export async function accountNumber(
  warehouse: Warehouse,
  organization: number,
  accountId: string,
): Promise<number | undefined> {
  const [row] = await warehouse.rows<{ account: number }>(
    `SELECT account FROM accounts FINAL
     WHERE organization = {organization:UInt32} AND account_id = {accountId:String}`,
    { organization, accountId },
  );
  return row?.account;
}
