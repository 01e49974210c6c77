/** Traits of users, or attributes of accounts, as of a time, from their whole history. */
import { maxNumbers } from "../churn/design.ts";
import type { EntityKind } from "./engagement-events.ts";
import type { Query } from "./query.ts";

/** A value that fewer entities ever had is never a column of the model (see design.ts). */
const leastEntitiesOfValue = 30;
const maxValues = 1_000;
/** Of all traits together. A trait of ids or names would be a group for each entity, and hold no frequent
 * value. */
const maxDistinctValues = 200_000;
/** Characters of a trait's name and value together: longer values are texts, and no category. */
const maxCharacters = 1_000;

/**
 * Rows (value): a name for each trait and value, as JSON, that at least 30 entities ever had, the most
 * frequent 1,000. Null, objects, arrays and long texts are no values. The names are hashes, because a
 * statement has no room for a thousand texts.
 *
 * Values are counted of the traits with the fewest different values, as long as these are 200,000 together: a
 * trait of ids, names or times has more. So memory does not grow with the entities. Different values are
 * estimated (within 2 %).
 *
 * The engine's quick parser of JSON takes no integer beyond 2^64, and an entity with one would have no
 * traits.
 */
export function frequentValuesQuery(organization: number, kind: EntityKind = "user"): Query {
  const said = `(
    SELECT ${kind} AS entity, word.1 AS trait, word.2 AS raw
    FROM (
      SELECT ${kind}, arrayJoin(JSONExtractKeysAndValuesRaw(traits)) AS word
      FROM ${kind}_versions WHERE organization = {organization:UInt32})
    WHERE raw != 'null' AND NOT match(raw, '^[{[]') AND lengthUTF8(trait) + lengthUTF8(raw) <= ${maxCharacters})`;
  const sql = `
    SELECT toString(cityHash64(trait, raw)) AS value
    FROM ${said}
    WHERE trait IN (
      SELECT trait FROM (
        SELECT trait, sum(distinctValues) OVER (ORDER BY distinctValues, trait) AS valuesSoFar
        FROM (SELECT trait, uniqCombined(12)(raw) AS distinctValues FROM ${said} GROUP BY trait))
      WHERE valuesSoFar <= ${maxDistinctValues})
    GROUP BY trait, raw HAVING groupBitmap(entity) >= ${leastEntitiesOfValue}
    ORDER BY groupBitmap(entity) DESC, trait, raw LIMIT ${maxValues}
    SETTINGS allow_simdjson = 0`;
  return { sql, parameters: { organization } };
}

/** A numeric trait has at least this many different numbers: fewer are categories. */
const leastDifferentNumbers = 5;
/** Larger numbers count as this: one outlier would leave nothing of a column. */
const largestNumber = "1e12";

/** A raw value of JSON as text. */
const textOf = (raw: string) => `if(startsWith(${raw}, '"'), JSONExtractString(${raw}), ${raw})`;
const decimalNumber = "^-?[0-9]{1,20}([.][0-9]{1,20})?([eE][+-]?[0-9]{1,2})?$";
/** A raw value as a number: a number of JSON, or a text with a number. Null for other values. */
export function numberOf(raw: string): string {
  return `if(match(${textOf(raw)}, '${decimalNumber}'), toFloat64OrNull(${textOf(raw)}), NULL)`;
}

/** Rows (trait): traits of which 30 entities have numbers, at least 5 different ones; those of the most
 * entities. */
export function numericTraitsQuery(organization: number, kind: EntityKind = "user"): Query {
  const sql = `
    SELECT trait
    FROM (
      SELECT ${kind} AS entity, word.1 AS trait, ${numberOf("word.2")} AS number
      FROM (
        SELECT ${kind}, arrayJoin(JSONExtractKeysAndValuesRaw(traits)) AS word
        FROM ${kind}_versions WHERE organization = {organization:UInt32})
      WHERE number IS NOT NULL AND lengthUTF8(trait) <= ${maxCharacters})
    GROUP BY trait
    HAVING groupBitmap(entity) >= ${leastEntitiesOfValue} AND uniqUpTo(${leastDifferentNumbers})(number) >= ${leastDifferentNumbers}
    ORDER BY groupBitmap(entity) DESC, trait LIMIT ${maxNumbers}
    SETTINGS allow_simdjson = 0`;
  return { sql, parameters: { organization } };
}

/** The traits to read: by name, or by values out of `frequentValuesQuery`. */
export type TraitFilter = (
  | { readonly names: readonly string[] /** Only of this one. */; readonly entity?: number }
  | {
      readonly values: readonly string[];
      /** Of entities with at most this hash at a cut-off, and of these. */
      readonly sample: {
        readonly hashUpTo: string;
        readonly cutoffDay: number;
        readonly entities: readonly number[];
      };
    }
) & {
  /** Traits that are read as numbers. */
  readonly numbers?: readonly string[];
};

/** The trait that names the plan. */
const planTrait = "plan";

/** The hash by which rows are sampled: of an entity at a cut-off, so that other entities are taken at each.
 * Binds `sampledDay`. */
export const sampleHash = (entity: string) => `cityHash64(${entity}, {sampledDay:Int32})`;
/** No hash is larger. */
export const largestHash = String(2n ** 64n - 1n);

/**
 * Rows (entity, traits, numbers, planIdleDays): traits as [name, value] pairs of text, numbers as a map by
 * name, and the days since the plan got another value. A trait's value at a time is the last one until then,
 * by (at, version). Later values do not exist yet: after an import of past events, the traits of today would
 * reveal to every cut-off which users left. Has to be read with the engine's thorough parser of JSON,
 * allow_simdjson = 0.
 */
export function traitsQuery(
  { organization, kind }: { readonly organization: number; readonly kind: EntityKind },
  atMs: number,
  filter: TraitFilter,
): Query {
  const { numbers = [] } = filter;
  const isTrait =
    "values" in filter
      ? "has({values:Array(UInt64)}, cityHash64(trait, last))"
      : "has({names:Array(String)}, trait)";
  const isNumber = "has({numericTraits:Array(String)}, trait)";
  const sample = sampleCondition(filter, kind);
  const isRead = "values" in filter ? "true" : `(${isTrait} OR ${isNumber} OR trait = '${planTrait}')`;
  const sql = `
    SELECT one AS entity,
      arraySort(groupArrayIf((trait, ${textOf("last")}), ${isTrait})) AS traits,
      mapFromArrays(
        groupArrayIf(trait, ${isNumber} AND number IS NOT NULL),
        groupArrayIf(least(greatest(assumeNotNull(number), -${largestNumber}), ${largestNumber}), ${isNumber} AND number IS NOT NULL)) AS numbers,
      maxOrNullIf(idleDays, trait = '${planTrait}') AS planIdleDays
    FROM (
      SELECT one, trait, argMax(raw, (at, version)) AS last, ${numberOf("last")} AS number,
        arraySort(groupArrayIf((at, version, cityHash64(raw)), trait = '${planTrait}')) AS plans,
        arrayLastIndex(plan -> plan.3 != cityHash64(last), plans) AS otherPlan,
        if(otherPlan = 0, NULL,
          ({atMs:Int64} - toUnixTimestamp64Milli(plans[otherPlan + 1].1)) / 86400000) AS idleDays
      FROM (
        SELECT ${kind} AS one, version, at, arrayJoin(JSONExtractKeysAndValuesRaw(traits)) AS word,
          word.1 AS trait, word.2 AS raw
        FROM ${kind}_versions
        WHERE organization = {organization:UInt32} AND toUnixTimestamp64Milli(at) < {atMs:Int64} AND ${sample.sql})
      WHERE ${isRead}
      GROUP BY one, trait)
    GROUP BY one`;
  const bound = "values" in filter ? { values: filter.values.map(BigInt) } : { names: filter.names };
  return { sql, parameters: { organization, atMs, numericTraits: numbers, ...bound, ...sample.parameters } };
}

function sampleCondition(filter: TraitFilter, kind: EntityKind): Query {
  if ("values" in filter) {
    const { hashUpTo, cutoffDay, entities } = filter.sample;
    return {
      sql: `(${sampleHash(kind)} <= {hashUpTo:UInt64} OR ${kind} IN {sampledEntities:Array(UInt32)})`,
      parameters: { hashUpTo: BigInt(hashUpTo), sampledDay: cutoffDay, sampledEntities: [...entities] },
    };
  }
  const { entity } = filter;
  if (entity === undefined) return { sql: "true", parameters: {} };
  return { sql: `${kind} = {entity:UInt32}`, parameters: { entity } };
}
