/** Whether entities that come inside would be inside by the rules of before as well, so that a change of settings is no alert. */
import { scoresByRules } from "../../scoring/scoring.ts";
import { dayParameter, type Warehouse } from "../../warehouse/warehouse.ts";
import { conditionSql, type ScoreCondition } from "./conditions.ts";

type Question = Parameters<typeof scoresByRules>[1];

/** Those of the entities that are inside by the rules of the run `rules`, on the day of `now`. For a rise or a fall `rules` is the run of the
 * earlier value. @throws WarehouseError */
export async function insideByRules(
  warehouse: Warehouse,
  condition: ScoreCondition,
  question: Question,
): Promise<ReadonlySet<number>> {
  const { value, inside, limits, lookbackDays, parameters } = conditionSql(condition);
  const before = lookbackDays === 0 ? [] : await valuesBefore(warehouse, value, question);
  const rows = await scoresByRules<{ entity: number; isInside: boolean }>(
    warehouse,
    question,
    [
      "entity",
      `ifNull(${value}, nan) AS value`,
      "{inFrom:Float64} AS inFrom",
      lookbackDays === 0
        ? "0. AS before"
        : "transform(entity, {entitiesBefore:Array(UInt32)}, {valuesBefore:Array(Float64)}, nan) AS before",
      `toBool(${inside}) AS isInside`,
    ],
    {
      ...parameters,
      inFrom: limits(question.rules.body).inFrom,
      ...(lookbackDays > 0 && {
        entitiesBefore: before.map(({ entity }) => entity),
        valuesBefore: before.map((row) => row.value),
      }),
    },
  );
  return new Set(rows.flatMap(({ entity, isInside }) => (isInside ? [entity] : [])));
}

/** The stored values of the earlier day. */
function valuesBefore(
  warehouse: Warehouse,
  value: string,
  { organization, kind, rules, entities }: Question,
): Promise<{ entity: number; value: number }[]> {
  return warehouse.rows(
    `SELECT entity, assumeNotNull(figure) AS value
     FROM (
       SELECT ${kind} AS entity, ${value} AS figure FROM (
         SELECT *, volume_28 AS volume28 FROM ${kind}_scores FINAL
         WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")} AND version >= {rowsVersion:UInt64}
           AND ${kind} IN {entities:Array(UInt32)}))
     WHERE isNotNull(figure)`,
    { organization: organization.id, day: rules.day, rowsVersion: rules.body.rowsVersion, entities },
  );
}
