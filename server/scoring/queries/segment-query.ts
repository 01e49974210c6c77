/** Cells by traits, in two halves: what segments of BG/BB are chosen and fitted from. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { Segment, SegmentData } from "../segments.ts";
import type { CellRow } from "./cell-query.ts";
import type { Population } from "./engagement-events.ts";
import { historyQuery } from "./feature-query.ts";
import { isInTrainingHalf, type Query, read, withParts } from "./query.ts";
import { traitsQuery } from "./trait-query.ts";

/** Fewer entities seen in the window are no segment: they would hardly leave the pooled parameters. */
const leastEntitiesOfSegment = 30;
/** The most frequent values. A fit takes up to 70 ms, and there is one for each value at each cut-off. */
const maxValuesOfTrait = 10;
const maxValues = 40;
/**
 * Of more entities a sample is taken. Without it, the traits of 100,000 users took 2 s at each cut-off; from 20,000
 * the parameters of a segment are as sure as anyone needs.
 */
const defaultMaxEntities = 20_000;

/** x, t, n, entities, and those of them in the training half. */
type Cell = readonly [x: number, t: number, n: number, count: number, training: number];

export interface SegmentsQuestion {
  readonly cutoffDay: number;
  /** Of everybody on the same day. */
  readonly cells: readonly CellRow[];
  /** Of `readFrequentValues`. */
  readonly values: readonly string[];
  /** So many are read, or about. */
  readonly maxEntities?: number;
}

interface SegmentRow {
  readonly trait: string;
  readonly value: string;
  readonly cells: readonly Cell[];
}

/**
 * The cells of users by value of every trait, traits as they were at the cut-off; null for accounts, which have no
 * traits, and where no value is frequent.
 */
export async function readSegments(
  warehouse: Warehouse,
  population: Population,
  { cutoffDay, cells: all, values, maxEntities = defaultMaxEntities }: SegmentsQuestion,
): Promise<SegmentData | null> {
  if (population.kind === "account" || values.length === 0) return null;
  const entities = all.reduce((sum, { count }) => sum + count, 0);
  const oneIn = Math.max(1, Math.ceil(entities / maxEntities));
  const query = segmentsQuery({ ...population, oneIn }, cutoffDay, values);
  const rows = await read<SegmentRow>(warehouse, query);
  if (rows.length === 0) return null;
  const traits = Map.groupBy(rows, ({ trait }) => trait);
  return {
    pooledTraining: all.map(({ x, t, n, training }) => ({ x, t, n, count: training })),
    traits: new Map([...traits].map(([trait, found]) => [trait, found.map(segmentOf)])),
  };
}

function segmentOf({ value, cells }: SegmentRow): Segment {
  return {
    value,
    training: cells.map(([x, t, n, , training]) => ({ x, t, n, count: training })),
    heldOut: cells.map(([x, t, n, count, training]) => ({ x, t, n, count: count - training })),
  };
}

function segmentsQuery(
  population: Population & { readonly oneIn: number },
  cutoffDay: number,
  values: readonly string[],
): Query {
  const { organization, zone, oneIn } = population;
  return withParts(
    {
      history: historyQuery(population, cutoffDay),
      about: traitsQuery(organization, zone.startOfDay(cutoffDay), { values, oneIn }),
    },
    {
      sql: `
        SELECT trait, value, arraySort(groupArray((x, t, n, entities, training))) AS cells
        FROM (
          SELECT pair.1 AS trait, pair.2 AS value, x, t, n,
            toUInt32(count()) AS entities, toUInt32(countIf(${isInTrainingHalf})) AS training
          FROM (SELECT entity, x, t, n, arrayJoin(traits) AS pair FROM history INNER JOIN about USING (entity)
            WHERE n >= 0)
          GROUP BY trait, value, x, t, n)
        GROUP BY trait, value HAVING sum(entities) >= ${leastEntitiesOfSegment}
        ORDER BY sum(entities) DESC, trait, value
        LIMIT ${maxValuesOfTrait} BY trait LIMIT ${maxValues}
        SETTINGS allow_simdjson = 0`,
      parameters: {},
    },
  );
}
