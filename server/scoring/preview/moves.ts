/** How many entities change their band of health or of churn risk under other settings. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { Population } from "../queries/engagement-events.ts";
import {
  figureColumns,
  type HealthRules,
  healthSteps,
  healthValuesQuery,
  healthValuesSql,
} from "../queries/health-sql.ts";
import type { OfRun } from "../queries/lists/reading.ts";
import { rowsOfRun } from "../queries/lists/stored-score.ts";
import { type Query, scoringLimits, withColumns } from "../queries/query.ts";
import { type ScoreInput, scoresQuery } from "../queries/score-query.ts";
import type { HealthBand } from "../scores/health.ts";
import type { RiskBand, RiskLimits } from "../scores/risk-scale.ts";

/** Entities with the same bands before and after. */
export interface BandMove {
  readonly healthBefore: HealthBand;
  readonly healthAfter: HealthBand;
  /** Null without a churn risk. */
  readonly riskBefore: RiskBand | null;
  readonly riskAfter: RiskBand | null;
  readonly count: number;
}

/** Bands by other weights, traits and bounds, of the scores that a run stored. It reads no event. */
export function storedScoresUnder(
  population: Population,
  { kind, ...run }: OfRun,
  rules: HealthRules & Pick<ScoreInput, "horizonDays">,
): Query {
  const { healthTraits = [], riskScale, horizonDays } = rules;
  const health = healthSteps(rules);
  const names = healthTraits.map(({ trait }) => trait);
  const values = names.length === 0 ? undefined : healthValuesQuery(population, run.day, names);
  const rows = `
    SELECT * ${values === undefined ? "" : `, ${healthValuesSql(names, kind)} AS healthValues`}
    FROM (
      SELECT ${kind} AS entity, state, engagement AS engagementScore, momentum AS momentumScore, risk, adoption, billing,
        idle_days AS idleDays ${figureColumns(kind)}
      FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)}) AS scores
    ${values === undefined ? "" : `LEFT JOIN (${values.sql}) AS numbers USING (entity)`}`;
  return {
    sql: `
      SELECT entity, colour AS healthBand, ${riskBandSql(riskScale)} AS riskBand
      FROM (${withColumns(rows, health.steps)})`,
    parameters: { ...values?.parameters, ...health.parameters, ...run, horizonDays },
  };
}

/** Bands of all entities by other settings and another model, from their events. */
export function newScoresUnder(population: Population, input: Omit<ScoreInput, "version">): Query {
  return scoresQuery(population, input, [
    "entity",
    "colour AS healthBand",
    `${riskBandSql(input.riskScale)} AS riskBand`,
  ]);
}

/** The moves from the bands that a run stored. @param after rows (entity, healthBand, riskBand) */
export async function bandMoves(
  warehouse: Warehouse,
  { kind, ...run }: OfRun,
  limits: RiskLimits,
  after: Query,
): Promise<BandMove[]> {
  return warehouse.rows<BandMove>(
    `SELECT before.healthBand AS healthBefore, after.healthBand AS healthAfter,
       nullIf(before.riskBand, '') AS riskBefore, nullIf(after.riskBand, '') AS riskAfter, count() AS count
     FROM (SELECT ${kind} AS entity, toString(colour) AS healthBand, ${riskBandSql(limits)} AS riskBand
       FROM ${kind}_scores FINAL WHERE ${rowsOfRun(kind)}) AS before
     INNER JOIN (${after.sql}) AS after USING (entity)
     GROUP BY healthBefore, healthAfter, riskBefore, riskAfter
     ORDER BY healthBefore, healthAfter, riskBefore, riskAfter SETTINGS allow_simdjson = 0`,
    { ...after.parameters, ...run },
    scoringLimits,
  );
}

/** Empty without a risk. */
function riskBandSql({ medium, high }: RiskLimits): string {
  return `multiIf(isNull(risk), '', risk >= ${high}, 'high', risk >= ${medium}, 'medium', 'low')`;
}
