/** Traits of a sample of users, as training and back-tests take them, and of one user. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { FactsBeside } from "../scores/features.ts";
import type { Population } from "./engagement-events.ts";
import { type Query, read } from "./query.ts";
import { frequentValuesQuery, numericTraitsQuery, type TraitFilter, traitsQuery } from "./trait-query.ts";

/** Facts that follow from a user's traits. */
export type TraitFacts = Pick<FactsBeside, "traits" | "numbers" | "planIdleDays">;
export const noTraitFacts: TraitFacts = { traits: {}, numbers: {}, planIdleDays: null };

/** Traits that are told of enough users to be columns of a model. */
export interface KnownTraits {
  /** Frequent values, as `traitsQuery` takes them. */
  readonly values: readonly string[];
  /** Numeric traits. */
  readonly numbers: readonly string[];
}

/** The traits of an organization's users that may tell something; accounts have none. */
export async function readKnownTraits(
  warehouse: Warehouse,
  { organization, kind }: Population,
): Promise<KnownTraits> {
  if (kind === "account") return { values: [], numbers: [] };
  const values = await read<{ value: string }>(warehouse, frequentValuesQuery(organization));
  const numbers = await read<{ trait: string }>(warehouse, numericTraitsQuery(organization));
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

/** Traits of a sample's users by their number: reading those of all users takes three times as long as features. */
export async function readTraits(
  warehouse: Warehouse,
  { organization, zone }: Population,
  { cutoffDay, known: { values, numbers }, hashUpTo, churned }: TraitsQuestion,
): Promise<ReadonlyMap<number, TraitFacts>> {
  if ((values.length === 0 && numbers.length === 0) || hashUpTo === undefined) return new Map();
  const sample = { hashUpTo, cutoffDay, users: churned.map(({ entity }) => entity) };
  return readRows(warehouse, organization, zone.startOfDay(cutoffDay), { values, numbers, sample });
}

/** A user's traits with these names, as they were at the start of a day. */
export async function traitsOfUser(
  warehouse: Warehouse,
  { organization, zone }: Pick<Population, "organization" | "zone">,
  {
    user,
    day,
    ...filter
  }: {
    readonly user: number;
    readonly day: number;
    readonly names: readonly string[];
    readonly numbers: readonly string[];
  },
): Promise<TraitFacts> {
  const found = await readRows(warehouse, organization, zone.startOfDay(day), { user, ...filter });
  return found.get(user) ?? noTraitFacts;
}

interface TraitsRow extends Omit<TraitFacts, "traits"> {
  readonly entity: number;
  readonly traits: readonly (readonly [name: string, value: string])[];
}

async function readRows(
  warehouse: Warehouse,
  organization: number,
  atMs: number,
  filter: TraitFilter,
): Promise<ReadonlyMap<number, TraitFacts>> {
  const { sql, parameters }: Query = traitsQuery(organization, atMs, filter);
  const rows = await read<TraitsRow>(warehouse, { sql: `${sql} SETTINGS allow_simdjson = 0`, parameters });
  return new Map(
    rows.map(({ entity, traits, ...facts }) => [entity, { ...facts, traits: Object.fromEntries(traits) }]),
  );
}
