/** Whether entities that come inside would also be inside by an earlier model and earlier settings, so that a
 * change of the model or the settings fires no alert. */
import { scoresByRules } from "../../../scoring/preview/scores-by-rules.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import { conditionSql, type ScoreCondition } from "./conditions.ts";

type Question = Parameters<typeof scoresByRules>[1] & { readonly entities: readonly number[] };

/** For each condition, the entities that are inside on the day of `now` by the model and settings of the run
 * `rules`. For rises and falls `rules` is the run of the earlier value. @throws WarehouseError */
export async function insideByRules(
  warehouse: Warehouse,
  conditions: readonly ScoreCondition[],
  question: Question,
): Promise<readonly ReadonlySet<number>[]> {
  const all = conditions.map((condition, at) => conditionSql(condition, String(at)));
  const figures = [...new Set(all.filter(({ lookbackDays }) => lookbackDays > 0).map(({ value }) => value))];
  const before = figures.length === 0 ? [] : await valuesBefore(warehouse, figures, question);
  const judged = all.map(({ value, inside, lookbackDays }, at) => {
    const figure = figures.indexOf(value);
    return inside({
      value: `ifNull(${value}, nan)`,
      before:
        lookbackDays === 0
          ? "0."
          : `transform(entity, {entitiesBefore:Array(UInt32)}, {valuesBefore${figure}:Array(Float64)}, nan)`,
      from: `{inFrom${at}:Float64}`,
    });
  });
  const rows = await scoresByRules<{ entity: number; inside: readonly number[] }>(
    warehouse,
    question,
    [
      "entity",
      `arrayFilter(each -> each > 0, [${judged.map((one, at) => `if(${one}, ${at + 1}, 0)`).join(", ")}]) AS inside`,
    ],
    {
      ...Object.assign({}, ...all.map(({ parameters }) => parameters)),
      ...Object.fromEntries(all.map(({ limits }, at) => [`inFrom${at}`, limits(question.rules.body).inFrom])),
      ...(figures.length > 0 && { entitiesBefore: before.map(({ entity }) => entity) }),
      ...Object.fromEntries(
        figures.map((_, at) => [`valuesBefore${at}`, before.map(({ values }) => values[at] ?? Number.NaN)]),
      ),
    },
  );
  return conditions.map(
    (_, at) => new Set(rows.flatMap(({ entity, inside }) => (inside.includes(at + 1) ? [entity] : []))),
  );
}

/** The stored values of entities on the earlier day; null where a value is unknown. */
function valuesBefore(
  warehouse: Warehouse,
  figures: readonly string[],
  { organization, kind, rules, entities }: Question,
): Promise<{ entity: number; values: readonly (number | null)[] }[]> {
  return warehouse.rows(
    `SELECT ${kind} AS entity, [${figures.map((figure) => `toNullable(toFloat64(${figure}))`).join(", ")}] AS values
     FROM (
       SELECT *, volume_28 AS volume28 FROM ${kind}_scores FINAL
       WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")} AND version >= {rowsVersion:UInt64}
         AND ${kind} IN {entities:Array(UInt32)})`,
    { organization: organization.id, day: rules.day, rowsVersion: rules.body.rowsVersion, entities },
  );
}
