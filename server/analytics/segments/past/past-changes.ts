/** Users or accounts by how their scores went since an earlier run, as of past days: `moved` and `toCall`. */
import type { Filter } from "../../../../contract/segments/filters.ts";
import { columnOfFall, type Fall, fallCondition } from "../../../scoring/queries/lists/falls.ts";
import { movedConditionsBy } from "../../../scoring/queries/lists/reading.ts";
import { isMovedByRules, shiftsOfPairs } from "../../../scoring/queries/lists/shifts.ts";
import { callChangeDays, fellSharply, uncalledBands } from "../../../scoring/queries/lists/to-call.ts";
import type { HealthBand } from "../../../scoring/scores/health.ts";
import type { State } from "../../../scoring/scores/state.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import { condition } from "../../entities/list-scores.ts";
import type { Sql } from "../../sql.ts";
import { DaySets } from "./day-sets.ts";
import { daySetsOfParts, entitiesOfPart } from "./past-days.ts";
import { earlierRuns, type PastRun, type PastScores, readRuns } from "./past-scores.ts";

/** States and bands as numbers: arrays of texts would take ten times the memory. */
const codes: Readonly<Record<State | HealthBand | "", number>> = {
  "": 0,
  churned: 1,
  at_risk: 2,
  watch: 3,
  healthy: 4,
  onboarding: 5,
  none: 6,
  no_data: 7,
  active: 8,
  inactive: 9,
  canceling: 10,
  new: 11,
};
const codeOf = (name: keyof typeof codes) => String(codes[name]);
const movedConditions = movedConditionsBy(codeOf);
const isToCall = `healthBand NOT IN (${uncalledBands.map(codeOf).join(", ")}) AND (isHigh OR ${fellSharply})`;

/** Those whose health went this way since the earlier run. */
export function movedInPast(
  warehouse: Warehouse,
  past: PastScores,
  moved: NonNullable<Filter["moved"]>,
  comparedWithDays: number,
): Promise<DaySets> {
  return changedWhere(warehouse, past, {
    lookbackDays: comparedWithDays,
    ...condition(movedConditions[moved]),
  });
}

/** Those whose use or health fell so far within so many days. */
export function fellInPast(
  warehouse: Warehouse,
  past: PastScores,
  { of, by }: Fall,
  days: number,
): Promise<DaySets> {
  return changedWhere(warehouse, past, {
    lookbackDays: days,
    column: columnOfFall[of],
    ...condition(fallCondition(of, "{fellBy:Float64}"), { fellBy: by }),
  });
}

/** Those that are to be called, controls among them. */
export function toCallInPast(warehouse: Warehouse, past: PastScores): Promise<DaySets> {
  return changedWhere(warehouse, past, { lookbackDays: callChangeDays, ...condition(isToCall) });
}

/** A condition over `state`, `healthBand` and `healthBandBefore` as numbers, `value`, that of the run
 * `before`, and the `change` of health between them, which are NaN where they are unknown, and `isHigh`: the
 * risk band. What changed rules changed is left out, as in lists of today: `byRules` are points of health,
 * and who changed the band by rules alone has the new one before, too. */
interface ChangeCondition extends Sql {
  readonly lookbackDays: number;
  /** Of scores, for `value`. Default: health. */
  readonly column?: (typeof columnOfFall)[keyof typeof columnOfFall];
}

/** The number of a state or a band. @param name an expression */
const codeOfBand = (name: string) =>
  `transform(toString(${name}), {names:Array(String)}, {codes:Array(UInt8)}, 0)`;
/** Over `before` and `now`, and `byRules`: the bands before the first change of rules and after the last,
 * four bits each. */
const movedByRules = isMovedByRules("before", "now")
  .replaceAll("bandFirst", "bitShiftRight(byRules, 4)")
  .replaceAll("bandLast", "bitAnd(byRules, 15)");

/** Those whose scores of the newest run match a condition, compared with those of the run before. */
function changedWhere(warehouse: Warehouse, past: PastScores, asked: ChangeCondition): Promise<DaySets> {
  if (readRuns(past).length === 0) return Promise.resolve(new DaySets(past.entities));
  const { text, parameters } = changesSql(past, asked);
  const froms = Array.from(
    { length: Math.ceil(past.entities / entitiesOfPart) },
    (_, at) => at * entitiesOfPart,
  );
  return daySetsOfParts(
    warehouse,
    past.entities,
    // Arrays of all days are in memory at once: of so many entities at a time.
    froms.map((from) => ({
      text,
      parameters: { ...parameters, numbersFrom: from, numbersBelow: from + entitiesOfPart },
    })),
  );
}

/**
 * Each row stands for itself and for those that are compared with it. `key` is the place of a compared pair,
 * and a mark is the key, whether the row is the later one, and its codes. So sorted marks have pairs next to
 * each other.
 */
function changesSql(past: PastScores, asked: ChangeCondition): Sql {
  const { lookbackDays, text: condition, column = "health" } = asked;
  const { kind } = past;
  const read = runsWithRoles(past, lookbackDays);
  const [first, last] = [read[0]?.run.day ?? 0, read.at(-1)?.run.day ?? -1];
  const shifted = (array: string, nothing: string) => `arrayPopBack(arrayPushFront(${array}, ${nothing}))`;
  const roles = read.flatMap((one) => one.roles);
  const later = readRuns(past).map(({ run }) => run);
  const earlierOf = new Map(
    earlierRuns(past, lookbackDays).flatMap(({ run, of }) => of.map((one) => [one.run, run])),
  );
  const numbers = `${kind} >= {numbersFrom:UInt32} AND ${kind} < {numbersBelow:UInt32}`;
  const rows = `
    SELECT ${kind} AS entity, transform(toInt32(day), {runDays:Array(Int32)}, {places:Array(UInt16)}, 0) AS place,
      ifNull(${column}, nan) AS value,
      arrayJoin(arraySlice({roles:Array(UInt16)}, {rolesFrom:Array(UInt16)}[place], {rolesOf:Array(UInt16)}[place])) AS role,
      toUInt32(intDiv(role, 2)) AS pair,
      toUInt32(role * 512 + ifNull(risk >= {highRisks:Array(Float64)}[place], false) * 256
        + ${codeOfBand("colour")} * 16 + ${codeOfBand("state")}) AS mark
    FROM ${kind}_scores FINAL
    WHERE organization = {organization:UInt32} AND day >= ${dayParameter("firstDay")} AND day <= ${dayParameter("lastDay")}
      AND ${numbers} AND place > 0 AND version >= {versions:Array(UInt64)}[place] ${kind === "user" ? `AND ${isIncluded("user")}` : ""}`;
  return {
    text: `
      SELECT entity, arrayReduce('groupBitOr', arrayMap((key, isLater, state, healthBand, healthBandBefore, value, before, byRules, change, isHigh) ->
          if(isLater AND (${condition}), {bits:Array(UInt128)}[key], toUInt128(0)),
        keys, areLater, states, bands, bandsBefore, values, befores, shifts, changes, areHigh)) AS bits
      FROM (
        SELECT entity, groupArray(mark) AS read, arraySort(read) AS marks,
          arraySort((value, mark) -> mark, groupArray(value), read) AS values,
          arrayMap(mark -> toUInt8(bitShiftRight(mark, 10)), marks) AS keys,
          arrayMap(mark -> bitTest(mark, 9), marks) AS areLater,
          arrayMap(mark -> bitTest(mark, 8), marks) AS areHigh,
          arrayMap(mark -> toUInt8(bitAnd(bitShiftRight(mark, 4), 15)), marks) AS bands,
          arrayMap(mark -> toUInt8(bitAnd(mark, 15)), marks) AS states,
          arrayMap((key, before) -> key = before, keys, ${shifted("keys", "toUInt8(0)")}) AS areCompared,
          arraySort((value, mark) -> mark, groupArray(byRules), read) AS shifts,
          arraySort((value, mark) -> mark, groupArray(bandsByRules), read) AS shiftedBands,
          arrayMap((isCompared, before, now, byRules) -> multiIf(NOT isCompared, 0, ${movedByRules}, now, before),
            areCompared, ${shifted("bands", "toUInt8(0)")}, bands, shiftedBands) AS bandsBefore,
          arrayMap((isCompared, before) -> if(isCompared, before, nan), areCompared, ${shifted("values", "nan")}) AS befores,
          arrayMap((value, before, byRules) -> value - before - byRules, values, befores, shifts) AS changes
        FROM (
          SELECT entity, value, mark, byRules, toUInt8(${codeOfBand("bandFirst")} * 16 + ${codeOfBand("bandLast")}) AS bandsByRules
          FROM (${rows}) AS scores
          LEFT JOIN ${shiftsOfPairs(kind, "earlierDays", "laterDays", numbers)} AS shifts USING (entity, pair))
        GROUP BY entity)`,
    parameters: {
      ...asked.parameters,
      organization: past.organization,
      firstDay: first,
      lastDay: last,
      names: Object.keys(codes),
      codes: Object.values(codes),
      bits: readRuns(past).map(({ bits }) => bits),
      laterDays: later.map(({ day }) => day),
      // Without an earlier run there is nothing between the two.
      earlierDays: later.map((run) => earlierOf.get(run)?.day ?? run.day),
      runDays: read.map(({ run }) => run.day),
      places: read.map((_, at) => at + 1),
      versions: read.map(({ run }) => run.rowsVersion),
      highRisks: read.map(({ run }) => run.riskScale.high),
      roles,
      rolesOf: read.map((one) => one.roles.length),
      rolesFrom: read.map((_, at) => read.slice(0, at).reduce((sum, one) => sum + one.roles.length, 1)),
    },
  };
}

interface RunWithRoles {
  readonly run: PastRun;
  /** Twice the key of each pair, and one where it is the later run. */
  readonly roles: readonly number[];
}

/** The runs that are read, in the order of days. */
function runsWithRoles(past: PastScores, lookbackDays: number): RunWithRoles[] {
  const later = readRuns(past).map(({ run }) => run);
  const earlier = new Map(earlierRuns(past, lookbackDays).map(({ run, of }) => [run, of]));
  return past.runs
    .map((run) => {
      const ofLater = later.includes(run) ? [2 * (later.indexOf(run) + 1) + 1] : [];
      const compared = earlier.get(run) ?? [];
      return { run, roles: [...ofLater, ...compared.map((one) => 2 * (later.indexOf(one.run) + 1))] };
    })
    .filter(({ roles }) => roles.length > 0);
}
