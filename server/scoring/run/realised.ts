/** The actual churn of each health band: stored scores whose horizon is over, with their outcomes. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { labelsOf } from "../queries/label-query.ts";
import { rowsOfRun } from "../queries/lists/stored-score.ts";
import { read } from "../queries/query.ts";
import type { HealthBand } from "../scores/health.ts";
import { rowsOf } from "./entity.ts";
import { populationOf, type ScoredOrganization } from "./population.ts";
import { newestRun } from "./status.ts";

export interface RealisedChurn {
  readonly healthBand: HealthBand;
  readonly count: number;
  readonly churned: number;
}

/** Runs whose horizons do not overlap, back from the last whose horizon is over. */
const maxRuns = 6;

/**
 * Of entities that could churn. Runs used only the data of their day, so this is a back-test of health bands. Each run
 * is evaluated with the settings of its day.
 */
export async function realisedChurn(
  warehouse: Warehouse,
  organization: Omit<ScoredOrganization, "settings">,
  kind: EntityKind,
  day: number,
): Promise<RealisedChurn[]> {
  const sums = new Map<HealthBand, RealisedChurn>();
  let endDay = day;
  for (let index = 0; index < maxRuns; index += 1) {
    const run = await lastRunOver(warehouse, organization.id, kind, endDay);
    if (run === undefined) break;
    const asOfThen = { ...organization, settings: run.body.settings };
    for (const { healthBand, count, churned } of await ofRun(warehouse, asOfThen, kind, run)) {
      const sum = sums.get(healthBand) ?? { healthBand, count: 0, churned: 0 };
      sums.set(healthBand, { healthBand, count: sum.count + count, churned: sum.churned + churned });
    }
    endDay = run.day;
  }
  return [...sums.values()].sort((a, b) => a.churned / a.count - b.churned / b.count);
}

const shortestHorizonDays = 7;

/** The newest run whose own horizon was over by a day; undefined when there is none. */
async function lastRunOver(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  endDay: number,
): Promise<Awaited<ReturnType<typeof newestRun>>> {
  let uptoDay = endDay - shortestHorizonDays;
  for (;;) {
    const run = await newestRun(warehouse, organization, kind, uptoDay);
    if (run === undefined) return undefined;
    // Another run before that day may have a shorter horizon than this one, and none a later day.
    const lastDay = endDay - run.body.settings.churnHorizonDays;
    if (run.day <= lastDay) return run;
    uptoDay = Math.min(run.day - 1, lastDay);
  }
}

function ofRun(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  run: Parameters<typeof rowsOf>[2],
): Promise<RealisedChurn[]> {
  const population = populationOf(organization, kind);
  const { churnHorizonDays: horizonDays } = organization.settings;
  const { churned, isLabelled } = labelsOf(population, { cutoffDay: run.day, horizonDays });
  const { kind: _, ...rows } = rowsOf(organization.id, kind, run);
  return read<RealisedChurn>(warehouse, {
    sql: `
      SELECT healthBand, count() AS count, countIf(${churned.sql}) AS churned
      FROM (SELECT ${kind} AS entity, colour AS healthBand FROM ${kind}_scores FINAL
        WHERE ${rowsOfRun} AND state != 'churned' AND n >= 0)
      WHERE ${isLabelled.sql}
      GROUP BY healthBand SETTINGS allow_simdjson = 0`,
    parameters: { ...isLabelled.parameters, ...churned.parameters, ...rows },
  });
}
