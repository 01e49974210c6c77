/** Health in SQL: the values of the organization's own parts, and `healthOf` for a row of scores. */
import type { HealthTrait } from "../../../contract/api/health-traits.ts";
import { type HealthFigure, healthFigureOf } from "../../../contract/health-figures.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { accountOwners } from "../../warehouse/schema/account-owners.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { billingFactSql, isCancelingSql } from "../scores/billing.ts";
import type { EngagementScale } from "../scores/engagement.ts";
import type { Features } from "../scores/features.ts";
import { type HealthParts, healthLimits } from "../scores/health.ts";
import type { RiskScale } from "../scores/risk-scale.ts";
import { seatsUsedOf } from "../scores/seats.ts";
import type { EntityKind, Population } from "./engagement-events.ts";
import { isUnusedSql, zeroUnused } from "./lists/user-engagement.ts";
import { type Query, read, type Steps } from "./query.ts";
import { numberOf } from "./trait-query.ts";

/** The settings and limits that health follows from. */
export interface HealthRules {
  readonly healthWeights: HealthParts;
  /** The organization's own parts, none by default. */
  readonly healthTraits?: readonly HealthTrait[];
  readonly riskScale: RiskScale;
  readonly scale: EngagementScale;
}

/**
 * Health and its band (`colour`) of a row with state, engagementScore, risk, momentumScore, adoption, billing
 * and healthValues, the values of `healthTraits` in their order: none, or null, for a trait without a number.
 * The outer query binds horizonDays.
 */
export function healthSteps({ healthWeights, healthTraits = [], riskScale, scale }: HealthRules): Steps {
  const { healthyFrom, watchFrom, cappedTo } = healthLimits;
  const parts: readonly (readonly [score: string, weight: number])[] = [
    ["engagementScore", healthWeights.engagement],
    [zeroUnused(scale, "100 * (1 - risk) / (1 - risk + risk / {evenOdds:Float64})"), healthWeights.outlook],
    [zeroUnused(scale, "momentumScore"), healthWeights.momentum],
    ["100 * adoption", healthWeights.adoption],
    ...healthTraits.map(({ weight }, at) => [scoreOfTraitSql(at), weight] as const),
  ];
  const places = [...parts.keys()];
  const total = places.map((at) => `if(isNull(healthPart${at}), 0, {healthWeight${at}:Float64})`);
  const points = places.map((at) => `ifNull(healthPart${at}, 0) * {healthWeight${at}:Float64}`);
  return {
    steps: [
      Object.fromEntries(parts.map(([score], at) => [`healthPart${at}`, score])),
      { totalWeight: total.join(" + "), totalPoints: points.join(" + ") },
      { uncapped: "totalPoints / totalWeight" },
      {
        health: `multiIf(state = 'churned', 0, totalWeight = 0, NULL,
          ifNull(risk, 0) >= {cappedRisk:Float64} OR ${isCappedByBilling} OR ${isUnusedSql(scale)}, least(toFloat64(${cappedTo}), uncapped), uncapped)`,
      },
      {
        colour: `multiIf(state = 'churned', 'churned', totalWeight = 0, 'none', state = 'new', 'onboarding',
          health >= ${healthyFrom}, 'healthy', health >= ${watchFrom}, 'watch', 'at_risk')`,
      },
    ],
    parameters: {
      evenOdds: riskScale.evenOdds,
      cappedRisk: riskScale.cap,
      ...Object.fromEntries(parts.map(([, of], at) => [`healthWeight${at}`, Math.max(0, of)])),
      ...Object.fromEntries(
        healthTraits.flatMap(({ zeroAt, hundredAt }, at) => [
          [`zeroAt${at}`, zeroAt],
          [`hundredAt${at}`, hundredAt],
        ]),
      ),
    },
  };
}

const isCappedByBilling = `${isCancelingSql} OR ifNull(${billingFactSql("isPastDue")} = 1, false)`;

/** `scoreOfTrait`. An index beyond the array is null. `least` of null is another value. */
function scoreOfTraitSql(at: number): string {
  const value = `healthValues[${at + 1}]`;
  const share = `(${value} - {zeroAt${at}:Float64}) / ({hundredAt${at}:Float64} - {zeroAt${at}:Float64})`;
  return `if(isNull(${value}), NULL, 100 * greatest(0., least(1., ifNull(${share}, 0))))`;
}

/**
 * Rows (entity, saidValues): the last value of each of these traits at the start of a day, in their order.
 * Null for a trait that was not sent or whose last value is no number. An account has its attributes; an
 * attribute that it lacks is the trait of its owner. Statements need `allow_simdjson = 0`: the quick parser
 * takes no integer beyond 2^64.
 */
export function healthValuesQuery(population: Population, day: number, traits: readonly string[]): Query {
  const { organization, kind, zone, entity } = population;
  const values = traits.map((_, at) => numberOf(`argMaxIf(raw${at}, (at, version), raw${at} != '')`));
  const traitRows = (by: EntityKind) => `
    SELECT ${by} AS source, [${values.join(", ")}]::Array(Nullable(Float64)) AS values
    FROM (
      SELECT ${by}, at, version,
        ${traits.map((_, at) => `JSONExtractRaw(traits, {healthTrait${at}:String}) AS raw${at}`).join(", ")}
      FROM ${by}_versions
      WHERE organization = {organization:UInt32} AND toUnixTimestamp64Milli(at) < {healthBeforeMs:Int64}
        AND multiSearchAny(traits, {healthTraitTexts:Array(String)}) ${by === "user" ? `AND ${isIncluded("user")}` : ""}
        ${kind === by && entity !== undefined ? `AND ${by} = {entity:UInt32}` : ""})
    GROUP BY ${by}`;
  const own = traits.map((_, at) => `argMaxIf(values[${at + 1}], isOwn, isNotNull(values[${at + 1}]))`);
  const ofEntities =
    kind === "user"
      ? `SELECT source AS entity, values AS saidValues FROM (${traitRows("user")})`
      : `SELECT entity, [${own.join(", ")}]::Array(Nullable(Float64)) AS saidValues
         FROM (
           SELECT source AS entity, values, true AS isOwn FROM (${traitRows("account")})
           UNION ALL
           SELECT owners.account AS entity, values, false AS isOwn
           FROM (${traitRows("user")}) AS traits INNER JOIN ${accountOwners} AS owners ON owners.owner = traits.source
           ${entity === undefined ? "" : "WHERE owners.account = {entity:UInt32}"})
         GROUP BY entity`;
  return {
    sql: ofEntities,
    parameters: {
      organization,
      healthBeforeMs: zone.startOfDay(day),
      healthTraitTexts: traits.map((trait) => `${JSON.stringify(trait)}:`),
      ...Object.fromEntries(traits.map((trait, at) => [`healthTrait${at}`, trait])),
      ...(entity !== undefined && { entity }),
    },
  };
}

/** The values of parts of health in their order, an expression over `saidValues`, and for accounts over
 * active28, seats and pulse. */
export function healthValuesSql(names: readonly string[], kind: EntityKind): string {
  const values = names.map((name, at) => {
    const figure = healthFigureOf(name);
    if (figure === undefined) return `saidValues[${at + 1}]`;
    if (kind === "user") return "NULL";
    return figure === "$pulse" ? "toFloat64(pulse)" : "100 * active28 / nullIf(seats, 0)";
  });
  return `[${values.join(", ")}]::Array(Nullable(Float64))`;
}

/** The columns of `healthValuesSql` in a row of scores. */
export function figureColumns(kind: EntityKind): string {
  return kind === "user" ? "" : ", active_members_28 AS active28, seats, pulse";
}

/** The figures of an account that are parts of health, by their names; none of a user. */
export function healthFiguresOf({ members, seats = null, pulse = null }: Features): Record<string, number> {
  const used = members === null ? null : seatsUsedOf(members.active28, seats);
  const values: Record<HealthFigure, number | null> = {
    $seatsUsed: used === null ? null : 100 * used,
    $pulse: pulse,
  };
  return valuesByTrait(Object.keys(values), Object.values(values));
}

/** Reads the values of one entity, by the trait's name; traits without a number are left out, and
 * so are figures. */
export async function readHealthValues(
  warehouse: Warehouse,
  population: Population & { readonly entity: number },
  day: number,
  traits: readonly string[],
): Promise<Readonly<Record<string, number>>> {
  const said = traits.filter((trait) => healthFigureOf(trait) === undefined);
  if (said.length === 0) return {};
  const { sql, parameters } = healthValuesQuery(population, day, said);
  const [row] = await read<{ saidValues: readonly (number | null)[] }>(warehouse, {
    sql: `${sql} SETTINGS allow_simdjson = 0`,
    parameters,
  });
  return valuesByTrait(said, row?.saidValues ?? []);
}

/** Values in the order of their traits, by the trait's name. */
export function valuesByTrait(
  traits: readonly string[],
  values: readonly (number | null)[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    traits.flatMap((trait, at) => {
      const value = values[at] ?? null;
      return value === null ? [] : [[trait, value]];
    }),
  );
}
