/** What another definition of churn would mean: who left in the past year by the old and by the new
 * definition, and whose state it changes today. */
import { silence } from "../../../contract/api/churn-targets.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { engagementEvents, type Population } from "../queries/engagement-events.ts";
import type { OfRun } from "../queries/lists/reading.ts";
import { rowsOfRun } from "../queries/lists/stored-score.ts";
import { type Query, read } from "../queries/query.ts";
import { standingQuery } from "../queries/subscription-query.ts";
import { changesQuery, leftQuery } from "../queries/target-query.ts";
import { isCancelingSql, isMetByEnd } from "../scores/billing.ts";
import { isDeclared } from "../scores/features.ts";
import { newForDays, type State } from "../scores/state.ts";

/** How far back departures are counted. */
const departureDays = 365;

/** A definition: the target of a population, and the days of silence. */
export interface ChurnDefinition {
  readonly population: Population;
  readonly horizonDays: number;
}

/** Entities with the same state before and after. */
export interface StateMove {
  readonly stateBefore: State;
  readonly stateAfter: State;
  readonly count: number;
}

export interface DefinitionPreview {
  /** Entities that left in the 365 days before the run, each once. */
  readonly departuresBefore: number;
  readonly departuresAfter: number;
  /** Of the entities of the run. */
  readonly states: readonly StateMove[];
}

/** Compares two definitions as of a run's day. */
export async function previewDefinition(
  warehouse: Warehouse,
  run: OfRun,
  before: ChurnDefinition,
  after: ChurnDefinition,
): Promise<DefinitionPreview> {
  return {
    departuresBefore: await departuresOf(warehouse, before, run.day),
    departuresAfter: await departuresOf(warehouse, after, run.day),
    states: await stateMoves(warehouse, run, before, after),
  };
}

async function departuresOf(warehouse: Warehouse, definition: ChurnDefinition, day: number): Promise<number> {
  const { sql, parameters } = departedQuery(definition, day);
  const [row] = await read<{ count: number }>(warehouse, {
    sql: `SELECT uniqExact(entity) AS count FROM (${sql}) SETTINGS allow_simdjson = 0`,
    parameters,
  });
  return row?.count ?? 0;
}

/** Rows (entity) of the entities that left. */
function departedQuery({ population, horizonDays }: ChurnDefinition, day: number): Query {
  const { settings, zone } = population;
  const fromMs = zone.startOfDay(day - departureDays);
  if (!isDeclared(settings)) return silentQuery(population, day, horizonDays);
  if (settings.target?.by === "subscription") {
    const { sql, parameters } = standingQuery(population, day, "departed");
    return {
      sql: `SELECT entity FROM (${sql}) WHERE hasLeft AND endedMs >= {departedFromMs:Int64}`,
      parameters: { ...parameters, departedFromMs: fromMs },
    };
  }
  // A change to churned is a departure unless the entity had churned already. An event has a day, a trait an
  // instant.
  const { sql, parameters } = changesQuery(population, day, "departed");
  const isLate =
    settings.target?.by === "event" ? "at.1 >= {departedFromDay:Int32}" : "at.2 >= {departedFromMs:Int64}";
  const bound =
    settings.target?.by === "event" ? { departedFromDay: day - departureDays } : { departedFromMs: fromMs };
  return {
    sql: `
      SELECT entity FROM (
        SELECT entity, arraySort(groupArray((toInt32(day), toInt64(at), isChurned))) AS changes FROM (${sql}) GROUP BY entity)
      WHERE arrayExists((at, before) -> at.3 AND NOT before.3 AND ${isLate},
        changes, arrayPushFront(arrayPopBack(changes), (toInt32(0), toInt64(0), false)))`,
    parameters: { ...parameters, ...bound },
  };
}

/** Rows (entity) of entities that were silent for a horizon that ended within the year, in observed days. */
function silentQuery(population: Population, day: number, horizonDays: number): Query {
  const events = engagementEvents(population, day, { daysBefore: departureDays + horizonDays });
  return {
    sql: `
      SELECT entity FROM (
        SELECT entity, arraySort(groupUniqArray(toInt32(daysAgo))) AS ago FROM (${events.sql}) GROUP BY entity)
      WHERE arrayExists((last, next) -> last - next >= {silentDays:Int32} AND last - {silentDays:Int32} < ${departureDays},
        ago, arrayPushFront(arrayPopBack(ago), toInt32(0)))`,
    parameters: { ...events.parameters, silentDays: horizonDays },
  };
}

async function stateMoves(
  warehouse: Warehouse,
  { kind, ...run }: OfRun,
  before: ChurnDefinition,
  after: ChurnDefinition,
): Promise<StateMove[]> {
  const from = await stateSql(warehouse, before, run.day, "Before");
  const to = await stateSql(warehouse, after, run.day, "After");
  return read<StateMove>(warehouse, {
    sql: `
      SELECT ${from.sql} AS stateBefore, ${to.sql} AS stateAfter, count() AS count
      FROM (SELECT ${kind} AS entity, idle_days AS idleDays, tenure_days AS tenureDays, billing FROM ${kind}_scores FINAL
        WHERE ${rowsOfRun(kind)})
      GROUP BY stateBefore, stateAfter ORDER BY count DESC, stateBefore, stateAfter`,
    parameters: { ...from.parameters, ...to.parameters, ...run },
  });
}

/** The state of a stored row by a definition: `stateOf`. Who has left is read first: both definitions may
 * bind the same names. */
async function stateSql(
  warehouse: Warehouse,
  { population, horizonDays }: ChurnDefinition,
  day: number,
  name: string,
): Promise<Query> {
  const { settings } = population;
  const isDeclaredTarget = isDeclared(settings);
  const left = isDeclaredTarget ? await leftBitmap(warehouse, population, day) : undefined;
  const hasLeft =
    left === undefined
      ? "false"
      : `bitmapContains((SELECT CAST(base64Decode({left${name}:String}) AS AggregateFunction(groupBitmap, UInt32))), entity)`;
  return {
    sql: `multiIf(${hasLeft}, 'churned', ${isMetByEnd(settings.target ?? silence) ? isCancelingSql : "false"}, 'canceling',
      idleDays >= {idle${name}:Int32}, '${isDeclaredTarget ? "inactive" : "churned"}', tenureDays < ${newForDays}, 'new', 'active')`,
    parameters: { [`idle${name}`]: horizonDays, ...(left !== undefined && { [`left${name}`]: left }) },
  };
}

async function leftBitmap(warehouse: Warehouse, population: Population, day: number): Promise<string> {
  const left = leftQuery(population, day, "leftBefore");
  const [row] = await read<{ bitmap: string }>(warehouse, {
    sql: `SELECT base64Encode(CAST(groupBitmapState(toUInt32(entity)) AS String)) AS bitmap FROM (${left.sql})
      SETTINGS allow_simdjson = 0`,
    parameters: left.parameters,
  });
  if (row === undefined) throw new Error("A bitmap has no row.");
  return row.bitmap;
}
