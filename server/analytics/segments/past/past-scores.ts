/** Users or accounts by their scores of past days: what `scoreConditions` reads of now. */
import type { Filter } from "../../../../contract/segments/filters.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import { riskBandCondition } from "../../../scoring/queries/lists/reading.ts";
import type { RiskLimits } from "../../../scoring/scores/risk-scale.ts";
import { type Verdict, verdictSql } from "../../../scoring/scores/verdict.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import { condition, presentBands } from "../../entities/list-scores.ts";
import type { Sql } from "../../sql.ts";
import { DaySets } from "./day-sets.ts";
import { bitsOf, daySetsOf, type PastDays } from "./past-days.ts";

/** A finished run of a day. */
export interface PastRun {
  readonly day: number;
  readonly rowsVersion: number;
  readonly riskScale: RiskLimits;
}

export interface PastScores extends PastDays {
  readonly kind: EntityKind;
  /** The highest number, and one. */
  readonly entities: number;
  /** In the order of days, from before the first day on. */
  readonly runs: readonly PastRun[];
}

/** A condition on rows of scores. The opposite is for those that hold without a row. */
interface RowCondition extends Sql {
  readonly isOpposite?: boolean;
}

/** Conditions on scores that need no other day. */
type OfOneDay = Pick<Filter, "state" | "healthBand" | "riskBand" | "isPresent">;

/** Those of whom all conditions hold in the newest scores as of each day; undefined without a condition. */
export async function scoresInPast(
  warehouse: Warehouse,
  past: PastScores,
  filter: OfOneDay,
): Promise<DaySets | undefined> {
  const all = conditionsOf(filter);
  const direct = all.filter(({ isOpposite }) => isOpposite !== true);
  const opposites = all.filter(({ isOpposite }) => isOpposite === true);
  const sets = direct.length === 0 ? [] : [await rowsWhere(warehouse, past, direct)];
  for (const one of opposites) sets.push((await rowsWhere(warehouse, past, [one])).not());
  return sets.length === 0 ? undefined : sets.reduce((some, other) => some.and(other));
}

/** Those with a verdict. @param isAccountChurned of users: those whose account has churned */
export async function verdictInPast(
  warehouse: Warehouse,
  past: PastScores,
  verdict: NonNullable<Filter["verdict"]>,
  isAccountChurned: DaySets | undefined,
): Promise<DaySets> {
  const alone = (one: Verdict, isOpposite = false) =>
    rowsWhere(warehouse, past, [
      condition(`${ownVerdict} ${isOpposite ? "!=" : "="} {verdict:String}`, { verdict: one }),
    ]);
  switch (verdict) {
    case "churned":
      return alone("churned");
    case "not_churned":
      return withoutThose((await alone("churned")).not(), isAccountChurned);
    case "account_churned":
      return isAccountChurned === undefined
        ? alone("account_churned")
        : isAccountChurned.and((await alone("churned")).not());
    case "no_score":
      return withoutThose((await alone("no_score", true)).not(), isAccountChurned);
    default:
      return withoutThose(await alone(verdict), isAccountChurned);
  }
}

function withoutThose(sets: DaySets, others: DaySets | undefined): DaySets {
  return others === undefined ? sets : sets.and(others.not());
}

/** Those that had churned. */
export function churnedInPast(warehouse: Warehouse, past: PastScores): Promise<DaySets> {
  return rowsWhere(warehouse, past, [condition("state = 'churned'")]);
}

const limits = {
  medium: "{mediumRisks:Array(Float64)}[place]",
  high: "{highRisks:Array(Float64)}[place]",
} as const;

/** The verdict of an entity by its own scores. */
const ownVerdict = verdictSql(
  { state: "state", healthBand: "healthBand", risk: "risk", isAccountChurned: "false" },
  limits,
);

/** Users or accounts by their health band at the comparison date. `present` stands for every band but churned
 * and none. */
export function bandBeforeInPast(
  warehouse: Warehouse,
  past: PastScores,
  healthBandBefore: NonNullable<Filter["healthBandBefore"]>,
  comparedWithDays: number,
): Promise<DaySets> {
  const is =
    healthBandBefore === "present"
      ? condition(`healthBand IN ${presentBands}`)
      : condition("healthBand = {healthBandBefore:String}", { healthBandBefore });
  const read = earlierRuns(past, comparedWithDays).map(({ run, of }) => {
    return { run, bits: of.reduce((all, { bits }) => all | bits, 0n) };
  });
  return rowsWhere(warehouse, past, [is], read);
}

function conditionsOf({ state, healthBand, riskBand, isPresent }: OfOneDay): RowCondition[] {
  return [
    ...(state === undefined
      ? []
      : state === "no_data"
        ? [{ ...condition("true"), isOpposite: true }]
        : [condition("state = {state:String}", { state })]),
    ...(healthBand === undefined
      ? []
      : healthBand === "none"
        ? [{ ...condition("healthBand != 'none'"), isOpposite: true }]
        : [condition("healthBand = {healthBand:String}", { healthBand })]),
    ...(riskBand === undefined ? [] : [condition(`ifNull(${riskBandCondition(riskBand, limits)}, false)`)]),
    ...(isPresent === undefined
      ? []
      : [{ ...condition(`healthBand IN ${presentBands}`), isOpposite: !isPresent }]),
  ];
}

/** Those whose rows match all conditions. */
function rowsWhere(
  warehouse: Warehouse,
  past: PastScores,
  conditions: readonly Sql[],
  read: readonly ReadRun[] = readRuns(past),
): Promise<DaySets> {
  const { kind, organization, entities } = past;
  if (read.length === 0) return Promise.resolve(new DaySets(entities));
  const text = conditions.map((one) => `(${one.text})`).join(" AND ");
  const risks = (name: string, limit: (scale: RiskLimits) => number) =>
    text.includes(`{${name}:`) ? { [name]: read.map(({ run }) => limit(run.riskScale)) } : {};
  return daySetsOf(warehouse, entities, {
    text: `
      SELECT entity, groupBitOr({bits:Array(UInt128)}[place]) AS bits
      FROM (
        SELECT ${kind} AS entity, transform(toInt32(day), {runDays:Array(Int32)}, {places:Array(UInt8)}, 0) AS place,
          state, colour AS healthBand, risk
        FROM ${kind}_scores FINAL
        WHERE organization = {organization:UInt32} AND day >= ${dayParameter("firstDay")} AND day <= ${dayParameter("lastDay")}
          AND place > 0 AND version >= {versions:Array(UInt64)}[place] ${kind === "user" ? `AND ${isIncluded("user")}` : ""})
      WHERE ${text} GROUP BY entity`,
    parameters: {
      ...Object.assign({}, ...conditions.map(({ parameters }) => parameters)),
      organization,
      firstDay: read[0]?.run.day ?? 0,
      lastDay: read.at(-1)?.run.day ?? 0,
      runDays: read.map(({ run }) => run.day),
      places: read.map((_, at) => at + 1),
      versions: read.map(({ run }) => run.rowsVersion),
      bits: read.map(({ bits }) => bits),
      ...risks("mediumRisks", ({ medium }) => medium),
      ...risks("highRisks", ({ high }) => high),
    },
  });
}

interface ReadRun {
  readonly run: PastRun;
  /** The days of which it is the newest one. */
  readonly bits: bigint;
}

/** The runs that other runs are compared with, as `earlierRun` has them, with these. In the order of days. */
export function earlierRuns(
  past: PastScores,
  lookbackDays: number,
): { readonly run: PastRun; readonly of: readonly ReadRun[] }[] {
  const read = readRuns(past);
  const earlierOf = ({ run: { day } }: ReadRun) => past.runs.findLast((run) => run.day <= day - lookbackDays);
  return past.runs
    .map((run) => ({ run, of: read.filter((one) => earlierOf(one) === run) }))
    .filter(({ of }) => of.length > 0);
}

/** The runs that are read, each with the days of which it is the newest one. */
export function readRuns({ days, runs }: PastScores): ReadRun[] {
  const newest = (day: number) => runs.findLast((run) => run.day <= day);
  return runs
    .map((run) => ({ run, bits: bitsOf({ days }, (day) => newest(day) === run) }))
    .filter(({ bits }) => bits !== 0n);
}
