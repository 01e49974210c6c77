/** Traits of a sample of users, as training and back-tests take them. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { Population } from "./engagement-events.ts";
import { read } from "./query.ts";
import type { TraitsRow } from "./row-query.ts";
import { frequentValuesQuery, traitsQuery } from "./trait-query.ts";

/** The values of traits that are frequent enough to tell something, as `traitsQuery` takes them; accounts have none. */
export async function readFrequentValues(
  warehouse: Warehouse,
  { organization, kind }: Population,
): Promise<readonly string[]> {
  if (kind === "account") return [];
  const rows = await read<{ value: string }>(warehouse, frequentValuesQuery(organization));
  return rows.map(({ value }) => value);
}

interface TraitsQuestion {
  readonly cutoffDay: number;
  readonly values: readonly string[];
  /** Undefined when there is no row. */
  readonly hashUpTo: string | undefined;
}

/** Traits of a sample's users by their number: reading those of everybody takes three times as long as features. */
export async function readTraits(
  warehouse: Warehouse,
  { organization, zone }: Population,
  { cutoffDay, values, hashUpTo }: TraitsQuestion,
): Promise<ReadonlyMap<number, Readonly<Record<string, string>>>> {
  if (values.length === 0 || hashUpTo === undefined) return new Map();
  const { sql, parameters } = traitsQuery(organization, zone.startOfDay(cutoffDay), { values, hashUpTo });
  const query = { sql: `${sql} SETTINGS allow_simdjson = 0`, parameters };
  const rows = await read<TraitsRow>(warehouse, query);
  return new Map(rows.map(({ entity, traits }) => [entity, Object.fromEntries(traits)]));
}
