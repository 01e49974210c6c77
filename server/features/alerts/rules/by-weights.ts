/** Whether entities that cross a condition do so only because the model was fitted again, so that a refit
 * fires no alert. See docs/decisions/0086. */
import { scoresByRules } from "../../../scoring/preview/scores-by-rules.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { ScoredOrganization } from "../../../scoring/run/population.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import { conditionSql, type ScoreCondition } from "./conditions.ts";

type Run = ScoreRecord<RunBody>;

interface Crossing {
  readonly organization: Omit<ScoredOrganization, "settings">;
  readonly kind: EntityKind;
  /** The run of the day on which the entities cross. */
  readonly run: Run;
  /** The run that the day is compared with: its features are scored again by the model of `run`. */
  readonly reference: Run;
  /** Numbers of the entities that cross one of the conditions. */
  readonly entities: readonly number[];
}

/** For each condition, the entities that cross it by the refit alone: they were inside on the reference day
 * by the model of now, or, for a rise or a fall, the difference is gone or unknown. @throws WarehouseError */
export async function crossedByWeights(
  warehouse: Warehouse,
  conditions: readonly ScoreCondition[],
  crossing: Crossing,
): Promise<readonly ReadonlySet<number>[]> {
  const { organization, kind, run, reference, entities } = crossing;
  const all = conditions.map((condition, at) => conditionSql(condition, String(at)));
  const figures = [...new Set(all.filter(({ lookbackDays }) => lookbackDays > 0).map(({ value }) => value))];
  const now = figures.length === 0 ? [] : await valuesNow(warehouse, figures, crossing);
  const judged = all.map(({ value, inside, lookbackDays }, at) => {
    const referenceValue = `ifNull(toFloat64(${value}), nan)`;
    const of = (figure: number) =>
      `transform(entity, {entitiesNow:Array(UInt32)}, {valuesNow${figure}:Array(Float64)}, nan)`;
    return lookbackDays === 0
      ? inside({ value: referenceValue, before: "0.", from: `{inFrom${at}:Float64}` })
      : inside({ value: of(figures.indexOf(value)), before: referenceValue, from: `{inFrom${at}:Float64}` });
  });
  const rows = await scoresByRules<{ entity: number; inside: readonly number[] }>(
    warehouse,
    { organization, kind, now: reference, rules: run, entities },
    [
      "entity",
      `arrayFilter(each -> each > 0, [${judged.map((one, at) => `if(${one}, ${at + 1}, 0)`).join(", ")}]) AS inside`,
    ],
    {
      ...Object.assign({}, ...all.map(({ parameters }) => parameters)),
      ...Object.fromEntries(all.map(({ limits }, at) => [`inFrom${at}`, limits(run.body).inFrom])),
      ...(figures.length > 0 && { entitiesNow: now.map(({ entity }) => entity) }),
      ...Object.fromEntries(
        figures.map((_, at) => [`valuesNow${at}`, now.map(({ values }) => values[at] ?? Number.NaN)]),
      ),
    },
  );
  return all.map(({ lookbackDays }, at) => {
    const inside = new Set(rows.flatMap((row) => (row.inside.includes(at + 1) ? [row.entity] : [])));
    return lookbackDays === 0 ? inside : new Set(entities.filter((entity) => !inside.has(entity)));
  });
}

/** The stored values of entities on the day; null where a value is unknown. */
function valuesNow(
  warehouse: Warehouse,
  figures: readonly string[],
  { organization, kind, run, entities }: Crossing,
): Promise<{ entity: number; values: readonly (number | null)[] }[]> {
  return warehouse.rows(
    `SELECT ${kind} AS entity, [${figures.map((figure) => `toNullable(toFloat64(${figure}))`).join(", ")}] AS values
     FROM (
       SELECT *, volume_28 AS volume28 FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")} AND version >= {rowsVersion:UInt64}
         AND ${kind} IN {entities:Array(UInt32)})`,
    { organization: organization.id, day: run.day, rowsVersion: run.body.rowsVersion, entities },
  );
}
