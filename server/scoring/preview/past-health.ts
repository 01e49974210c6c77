/** Whether health would have told the churned from the others better under other weights: by stored scores
 * whose horizon is over. */

import type { Settings } from "../../../contract/settings.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { figureColumns, healthValuesQuery, healthValuesSql, valuesByTrait } from "../queries/health-sql.ts";
import { labelsOf } from "../queries/label-query.ts";
import { rowsOfRun } from "../queries/lists/stored-score.ts";
import { scoringLimits } from "../queries/query.ts";
import { couldChurn } from "../queries/target-query.ts";
import { rowsOf } from "../run/entity.ts";
import { populationOf, type ScoredOrganization } from "../run/population.ts";
import { type OverRun, runsOver } from "../run/realised.ts";
import { billingOf } from "../scores/billing.ts";
import { isUnused } from "../scores/engagement.ts";
import { type HealthInput, healthOf } from "../scores/health.ts";
import type { State } from "../scores/state.ts";
import { aucDifference } from "../statistics/auc-difference.ts";
import { aucOf, type Prediction } from "../statistics/metrics.ts";
import type { Interval } from "../statistics/wilson.ts";

/** How well health told the churned from the others, by two kinds of weights. */
export interface PastHealth {
  /** Days on which entities were scored. */
  readonly cutoffs: number;
  /** Scores that are judged. */
  readonly count: number;
  readonly departures: number;
  /** The probability that an entity that stayed had the higher health; null without both outcomes. */
  readonly aucBefore: number | null;
  readonly aucAfter: number | null;
  /** The 95 % interval of aucAfter − aucBefore; null without two of each outcome. */
  readonly difference: Interval | null;
}

/** Of each run: the first by a hash of their numbers. */
const maxRowsOfRun = 8_000;

/** @param settings of now and after the change; only their parts of health are compared */
export async function pastHealth(
  warehouse: Warehouse,
  organization: Omit<ScoredOrganization, "settings">,
  kind: EntityKind,
  day: number,
  settings: { readonly before: Settings; readonly after: Settings },
): Promise<PastHealth> {
  const runs = await runsOver(warehouse, organization, kind, day);
  const [before, after]: [Prediction[], Prediction[]] = [[], []];
  let departures = 0;
  for (const run of runs) {
    const rows = await readRows(warehouse, organization, kind, run, settings);
    for (const { label, ...row } of rows) {
      const scores = [settings.before, settings.after].map((of) => scoreUnder(of, row, run));
      const [one, other] = scores;
      if (one == null || other == null) continue;
      before.push({ predicted: -one, label });
      after.push({ predicted: -other, label });
      if (label) departures += 1;
    }
  }
  return {
    cutoffs: runs.length,
    count: before.length,
    departures,
    aucBefore: aucOf(before),
    aucAfter: aucOf(after),
    difference: aucDifference(
      before.map(({ predicted, label }, at) => ({
        first: predicted,
        second: after[at]?.predicted ?? predicted,
        label,
      })),
    ),
  };
}

interface PastRow extends Omit<HealthInput, "state" | "traitValues"> {
  readonly state: State;
  readonly label: boolean;
  readonly idleDays: number;
  readonly traitValues: Readonly<Record<string, number>>;
}

interface StoredPastRow extends Omit<PastRow, "traitValues" | "billing"> {
  readonly healthValues?: readonly (number | null)[];
  readonly billing: readonly (number | null)[];
}

function scoreUnder(
  { healthWeights, healthTraits }: Settings,
  { idleDays, ...row }: Omit<PastRow, "label">,
  { body }: OverRun,
): number | null {
  const hasNoUse = isUnused({ idleDays }, body.scale.scale, body.settings.churnHorizonDays);
  return healthOf({ ...row, isUnused: hasNoUse }, healthWeights, body.riskScale, healthTraits).score;
}

/** The scores of a run with their outcomes, of entities that could churn, judged by the settings of its
 * day. */
async function readRows(
  warehouse: Warehouse,
  organization: Omit<ScoredOrganization, "settings">,
  kind: EntityKind,
  run: OverRun,
  { before, after }: { readonly before: Settings; readonly after: Settings },
): Promise<PastRow[]> {
  const population = populationOf({ ...organization, settings: run.body.settings }, kind);
  const horizonDays = run.body.settings.churnHorizonDays;
  const { churned, isLabelled } = labelsOf(population, { cutoffDay: run.day, horizonDays });
  const names = [...new Set([...before.healthTraits, ...after.healthTraits].map(({ trait }) => trait))];
  const values = names.length === 0 ? undefined : healthValuesQuery(population, run.day, names);
  const { kind: _, ...rows } = rowsOf(organization.id, kind, run);
  const found = await warehouse.rows<StoredPastRow>(
    `SELECT state, engagement, risk, momentum, adoption, billing, idleDays, ${churned.sql} AS label
       ${values === undefined ? "" : `, ${healthValuesSql(names, kind)} AS healthValues`}
     FROM (
       SELECT ${kind} AS entity, state, engagement, risk, momentum, adoption, billing, idle_days AS idleDays ${figureColumns(kind)}
       FROM ${kind}_scores FINAL
       WHERE ${rowsOfRun(kind)} AND ${couldChurn(population)}
       ORDER BY cityHash64(${kind}), ${kind} LIMIT ${maxRowsOfRun}) AS scores
     ${values === undefined ? "" : `LEFT JOIN (${values.sql}) AS numbers USING (entity)`}
     WHERE ${isLabelled.sql} SETTINGS allow_simdjson = 0`,
    { ...values?.parameters, ...isLabelled.parameters, ...churned.parameters, ...rows },
    scoringLimits,
  );
  return found.map(({ healthValues = [], billing, ...row }) => ({
    ...row,
    billing: billingOf(billing),
    traitValues: valuesByTrait(names, healthValues),
  }));
}
