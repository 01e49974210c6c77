/** Traits of a sample of users or accounts, as training and back-tests take them, and of one of them. An
 * account has its attributes. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { FactsBeside } from "../scores/features.ts";
import type { Population } from "./engagement-events.ts";
import { type Query, read } from "./query.ts";
import { frequentValuesQuery, numericTraitsQuery, type TraitFilter, traitsQuery } from "./trait-query.ts";

/** Facts that follow from an entity's traits. */
export type TraitFacts = Pick<FactsBeside, "traits" | "numbers" | "planIdleDays">;
export const noTraitFacts: TraitFacts = { traits: {}, numbers: {}, planIdleDays: null };

/** Traits that are told of enough entities to be columns of a model. */
export interface KnownTraits {
  /** Frequent values, as `traitsQuery` takes them. */
  readonly values: readonly string[];
  /** Numeric traits. */
  readonly numbers: readonly string[];
}

/** The traits of an organization's users or accounts that may tell something. */
export async function readKnownTraits(
  warehouse: Warehouse,
  { organization, kind }: Population,
): Promise<KnownTraits> {
  const values = await read<{ value: string }>(warehouse, frequentValuesQuery(organization, kind));
  const numbers = await read<{ trait: string }>(warehouse, numericTraitsQuery(organization, kind));
  return { values: values.map(({ value }) => value), numbers: numbers.map(({ trait }) => trait) };
}

interface TraitsQuestion {
  readonly cutoffDay: number;
  readonly known: KnownTraits;
  /** Of the sample; undefined when it has no row. */
  readonly hashUpTo: string | undefined;
  /** Rows beside the sample. */
  readonly churned: readonly { readonly entity: number }[];
}

/** Traits of a sample's entities by their number: reading those of all users takes three times as long as
 * features. */
export async function readTraits(
  warehouse: Warehouse,
  population: Population,
  { cutoffDay, known: { values, numbers }, hashUpTo, churned }: TraitsQuestion,
): Promise<ReadonlyMap<number, TraitFacts>> {
  if ((values.length === 0 && numbers.length === 0) || hashUpTo === undefined) return new Map();
  const sample = { hashUpTo, cutoffDay, entities: churned.map(({ entity }) => entity) };
  return readRows(warehouse, population, cutoffDay, { values, numbers, sample });
}

/** An entity's traits with these names, as they were at the start of a day. */
export async function traitsOfEntity(
  warehouse: Warehouse,
  population: Population,
  {
    entity,
    day,
    ...filter
  }: {
    readonly entity: number;
    readonly day: number;
    readonly names: readonly string[];
    readonly numbers: readonly string[];
  },
): Promise<TraitFacts> {
  const found = await readRows(warehouse, population, day, { entity, ...filter });
  return found.get(entity) ?? noTraitFacts;
}

interface TraitsRow extends Omit<TraitFacts, "traits"> {
  readonly entity: number;
  readonly traits: readonly (readonly [name: string, value: string])[];
}

async function readRows(
  warehouse: Warehouse,
  { organization, kind, zone }: Population,
  day: number,
  filter: TraitFilter,
): Promise<ReadonlyMap<number, TraitFacts>> {
  const { sql, parameters }: Query = traitsQuery({ organization, kind }, zone.startOfDay(day), filter);
  const rows = await read<TraitsRow>(warehouse, { sql: `${sql} SETTINGS allow_simdjson = 0`, parameters });
  return new Map(
    rows.map(({ entity, traits, ...facts }) => [entity, { ...facts, traits: Object.fromEntries(traits) }]),
  );
}
