/** The actual churn of each health band: stored scores whose horizon is over, with their outcomes. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { hasKnownOutcomes } from "../churn/folds.ts";
import { spansWithoutDepartures } from "../queries/departure-days.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { daysWithUnknownChurn, labelsOf } from "../queries/label-query.ts";
import { rowsOfRun } from "../queries/lists/stored-score.ts";
import { read } from "../queries/query.ts";
import { couldChurn } from "../queries/target-query.ts";
import type { HealthBand } from "../scores/health.ts";
import type { Outages } from "../scores/observed-days.ts";
import { rowsOf } from "./entity.ts";
import { populationOf, type ScoredOrganization, weightsOf } from "./population.ts";
import { newestRun } from "./status.ts";

export interface RealisedChurn {
  readonly healthBand: HealthBand;
  readonly count: number;
  readonly churned: number;
  /** How many of the churned had their last subscription ended by failed payments. */
  readonly involuntary: number;
}

/** Runs whose horizons do not overlap, back from the last whose horizon is over. */
const maxRuns = 6;

/**
 * The churn of entities that could churn. Runs used only the data of their day, so this is a back-test of
 * health bands. Each run is evaluated with the settings of its day.
 */
export async function realisedChurn(
  warehouse: Warehouse,
  organization: Omit<ScoredOrganization, "settings">,
  kind: EntityKind,
  day: number,
): Promise<RealisedChurn[]> {
  const sums = new Map<HealthBand, RealisedChurn>();
  for (const run of await runsOver(warehouse, organization, kind, day)) {
    const asOfThen = { ...organization, settings: run.body.settings };
    for (const { healthBand, ...one } of await ofRun(warehouse, asOfThen, kind, run)) {
      const { count, churned, involuntary } = sums.get(healthBand) ?? noOutcomes;
      sums.set(healthBand, {
        healthBand,
        count: count + one.count,
        churned: churned + one.churned,
        involuntary: involuntary + one.involuntary,
      });
    }
  }
  return [...sums.values()].sort((a, b) => a.churned / a.count - b.churned / b.count);
}

const noOutcomes = { count: 0, churned: 0, involuntary: 0 };

/** A run whose own horizon is over. */
export type OverRun = NonNullable<Awaited<ReturnType<typeof newestRun>>>;

/** The newest runs whose horizons are over by a day, with known outcomes, and do not overlap, the newest
 * first. At most six. */
export async function runsOver(
  warehouse: Warehouse,
  organization: Omit<ScoredOrganization, "settings">,
  kind: EntityKind,
  day: number,
): Promise<OverRun[]> {
  const { outages = [] } = (await newestRun(warehouse, organization.id, kind, day))?.body ?? {};
  const runs: OverRun[] = [];
  while (runs.length < maxRuns) {
    const run = await lastRunOver(warehouse, { organization, kind, outages }, runs.at(-1)?.day ?? day);
    if (run === undefined) break;
    runs.push(run);
  }
  return runs;
}

const shortestHorizonDays = 7;

/** The newest run whose own horizon was over by a day, and whose outcomes are known; undefined when there is
 * none. */
async function lastRunOver(
  warehouse: Warehouse,
  {
    organization,
    kind,
    outages,
  }: {
    readonly organization: Omit<ScoredOrganization, "settings">;
    readonly kind: EntityKind;
    readonly outages: Outages;
  },
  endDay: number,
): Promise<Awaited<ReturnType<typeof newestRun>>> {
  let uptoDay = endDay - shortestHorizonDays;
  for (;;) {
    const run = await newestRun(warehouse, organization.id, kind, uptoDay);
    if (run === undefined) return undefined;
    // An earlier run may have a shorter horizon than this run, but none has a later day.
    const { churnHorizonDays: horizonDays } = run.body.settings;
    const lastDay = endDay - horizonDays;
    const population = populationOf({ ...organization, settings: run.body.settings }, kind);
    const lost = await daysWithUnknownChurn(warehouse, population, organization.eventsFromDay);
    const stopped = await spansWithoutDepartures(warehouse, population, endDay);
    const unknown = [...outages, ...lost, ...stopped];
    if (run.day <= lastDay && hasKnownOutcomes(run.day, horizonDays, unknown)) return run;
    uptoDay = Math.min(run.day - 1, lastDay);
  }
}

interface WeighedChurn {
  readonly healthBand: HealthBand;
  readonly count: number;
  readonly churned: number;
  readonly involuntary: number;
  readonly squares: number;
}

/** The bands of a run. Weighed counts are those of as many equal rows as say as much (Kish 1965). */
async function ofRun(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  run: Parameters<typeof rowsOf>[2],
): Promise<RealisedChurn[]> {
  const population = populationOf(organization, kind);
  const { churnHorizonDays: horizonDays } = organization.settings;
  const over = { fromDay: run.day, day: run.day + horizonDays, horizonDays };
  const weight = (await weightsOf(organization, kind, over)).sql(run.day);
  const { churned, isInvoluntary, isLabelled } = labelsOf(population, { cutoffDay: run.day, horizonDays });
  const { kind: _, ...rows } = rowsOf(organization.id, kind, run);
  const bands = await read<WeighedChurn>(warehouse, {
    sql: `
      SELECT healthBand, sum(weight) AS count, sumIf(weight, ${churned.sql}) AS churned,
        sumIf(weight, ${isInvoluntary.sql}) AS involuntary, sum(weight * weight) AS squares
      FROM (SELECT ${kind} AS entity, colour AS healthBand, ${weight.sql} AS weight FROM ${kind}_scores FINAL
        WHERE ${rowsOfRun(kind)} AND ${couldChurn(population)})
      WHERE weight > 0 AND ${isLabelled.sql}
      GROUP BY healthBand SETTINGS allow_simdjson = 0`,
    parameters: {
      ...isLabelled.parameters,
      ...churned.parameters,
      ...isInvoluntary.parameters,
      ...weight.parameters,
      ...rows,
    },
  });
  return bands.map(({ healthBand, count, squares, ...hits }) => {
    const scaled = (number: number) => Math.round((number * count) / squares);
    return {
      healthBand,
      count: scaled(count),
      churned: scaled(hits.churned),
      involuntary: scaled(hits.involuntary),
    };
  });
}
