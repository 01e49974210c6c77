/** Scores of some entities by the rules of another run: its model, bands and settings, on the features of a
 * later day. Nothing is stored. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { eventsOfModel } from "../churn/churn-model.ts";
import { cellRisks } from "../queries/cell-table.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { type Query, scoringLimits } from "../queries/query.ts";
import { scoresQuery } from "../queries/score-query.ts";
import { computedRows, type SnapshotRows, storedRows } from "../queries/snapshot-rows.ts";
import { memberRisksOf } from "../run/member-risks.ts";
import { populationOf, type ScoredOrganization, settingsOfKey } from "../run/population.ts";
import type { RunBody } from "../run/record-bodies.ts";
import { recordOf, type ScoreRecord } from "../run/records.ts";
import { scoringSettings } from "../scores/settings.ts";

type Run = Pick<ScoreRecord<RunBody>, "day" | "body">;

/**
 * A key of everything that is set or trained and that the scores of a run follow from. The daily fit of BG/BB
 * is not part of it: it follows from the day's data, like features.
 */
export function rulesKey({ body }: Run): string {
  const { settingsKey, declaredOutages, trainedDay, choice, scaleDay, riskScale } = body;
  return JSON.stringify([
    settingsOfKey(settingsKey),
    declaredOutages,
    trainedDay,
    choice.rung,
    scaleDay,
    riskScale,
  ]);
}

/** A key of what team members set, and of the kind of model. A weekly refit keeps it. */
export function groundKey({ body: { settingsKey, declaredOutages, choice } }: Run): string {
  return JSON.stringify([settingsOfKey(settingsKey), declaredOutages, choice.rung]);
}

export interface ScoresByRules {
  readonly organization: Omit<ScoredOrganization, "settings">;
  readonly kind: EntityKind;
  /** The run of the day whose features count. */
  readonly now: Run;
  /** The run whose model, bands and settings count. */
  readonly rules: Run;
  /** Numbers; all when left out. */
  readonly entities?: readonly number[];
}

/**
 * Rows of these expressions over `entity` and the scores (`state`, `risk`, `health`, `volume28`) of the
 * entities.
 * @param parameters that the expressions bind
 */
export async function scoresByRules<Row>(
  warehouse: Warehouse,
  question: ScoresByRules,
  selected: readonly string[],
  parameters: Query["parameters"] = {},
): Promise<Row[]> {
  const query = await queryByRules(warehouse, question, selected);
  return warehouse.rows<Row>(
    `${query.sql} SETTINGS allow_simdjson = 0`,
    { ...query.parameters, ...parameters },
    scoringLimits,
  );
}

/** The query of `scoresByRules`. Its statement needs `allow_simdjson = 0`. */
export async function queryByRules(
  warehouse: Warehouse,
  question: ScoresByRules,
  selected: readonly string[],
): Promise<Query> {
  const { organization, kind, now, rules, entities } = question;
  const { settings, model, bgbb, riskScale, scale } = rules.body;
  const { outages } = now.body;
  const population = populationOf({ ...organization, settings, outages }, kind);
  const snapshot = await snapshotOf(warehouse, population, question);
  const horizonDays = settings.churnHorizonDays;
  const users =
    kind === "account"
      ? await recordOf(warehouse, { organization: organization.id, kind: "user", what: "run" }, rules.day)
      : undefined;
  return scoresQuery(
    population,
    {
      snapshot: {
        ...snapshot,
        entities: entities === undefined ? snapshot.entities : onlyThese(snapshot.entities, entities),
      },
      horizonDays,
      model,
      riskScale,
      scale: scale.scale,
      healthWeights: settings.healthWeights,
      healthTraits: settings.healthTraits,
      cells: cellRisks(model?.bgbb ?? bgbb.parameters, horizonDays),
      ...(kind === "account" && { memberRisks: memberRisksOf(users?.body ?? rules.body, horizonDays) }),
    },
    selected,
  );
}

function onlyThese({ sql, parameters }: Query, entities: readonly number[]): Query {
  return {
    sql: `SELECT * FROM (${sql}) WHERE entity IN {theseEntities:Array(UInt32)}`,
    parameters: { ...parameters, theseEntities: [...entities] },
  };
}

/** The stored features of the day. Where the rules need other features, they are computed from events. */
async function snapshotOf(
  warehouse: Warehouse,
  population: Population,
  { organization: { id }, kind, now, rules }: ScoresByRules,
): Promise<SnapshotRows> {
  const { day } = now;
  const featuresOf = ({ body }: Run) => {
    const { passiveEvents, weights, keyEvents } = scoringSettings(body.settings, kind).features;
    return JSON.stringify([[...(passiveEvents ?? [])], [...(weights ?? [])], keyEvents]);
  };
  const kinds = [...new Set([kind, "user"] as const)];
  const records = await Promise.all(
    kinds.map((each) => recordOf(warehouse, { organization: id, kind: each, what: "snapshot" }, day)),
  );
  const stored = records.flatMap((record, at) =>
    record === undefined || record.stale
      ? []
      : [
          storedRows({
            kind: kinds[at] ?? kind,
            organization: id,
            day,
            rowsVersion: record.body.rowsVersion,
          }),
        ],
  );
  const [entities, users = entities] = stored;
  if (
    entities !== undefined &&
    users !== undefined &&
    stored.length === kinds.length &&
    featuresOf(now) === featuresOf(rules)
  ) {
    return { day, entities, users };
  }
  const counted = eventsOfModel(rules.body.model);
  const ofUsers = computedRows({ ...population, kind: "user" }, day, counted);
  return {
    day,
    entities: kind === "user" ? ofUsers : computedRows(population, day, counted),
    users: ofUsers,
  };
}
