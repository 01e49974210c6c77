/** Traits of a sample of users, as training and back-tests take them, and of one user. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { Population } from "./engagement-events.ts";
import { type Query, read } from "./query.ts";
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

/** Traits of a sample's users by their number: reading those of all users takes three times as long as features. */
export async function readTraits(
  warehouse: Warehouse,
  { organization, zone }: Population,
  { cutoffDay, values, hashUpTo }: TraitsQuestion,
): Promise<ReadonlyMap<number, Readonly<Record<string, string>>>> {
  if (values.length === 0 || hashUpTo === undefined) return new Map();
  const query = traitsQuery(organization, zone.startOfDay(cutoffDay), { values, hashUpTo });
  const rows = await readRows(warehouse, query);
  return new Map(rows.map(({ entity, traits }) => [entity, Object.fromEntries(traits)]));
}

/** A user's traits with these names, as they were at the start of a day. */
export async function traitsOfUser(
  warehouse: Warehouse,
  { organization, zone }: Pick<Population, "organization" | "zone">,
  { user, day, names }: { readonly user: number; readonly day: number; readonly names: readonly string[] },
): Promise<Readonly<Record<string, string>>> {
  if (names.length === 0) return {};
  const [row] = await readRows(warehouse, traitsQuery(organization, zone.startOfDay(day), { names, user }));
  return Object.fromEntries(row?.traits ?? []);
}

function readRows(warehouse: Warehouse, { sql, parameters }: Query): Promise<TraitsRow[]> {
  return read<TraitsRow>(warehouse, { sql: `${sql} SETTINGS allow_simdjson = 0`, parameters });
}
