/**
 * Shifts: how much the scores of a day changed because their rules did, which are the model, the scale and
 * the settings. Two days under different rules are compared without the shifts of the days between, so that a
 * new model is never told as a change of customers.
 *
 * A shift compares the scores of a day with those by the rules of the scored day before, on the features of
 * the day itself. Shifts of days in a row add up, whatever the order in which the days were scored: a run
 * stores its own, and that of the run after it, before its record. After a crash in between the run is done
 * again.
 */
import { versionAbove } from "../../process/time.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { queryByRules, rulesKey } from "../preview/scores-by-rules.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { scoringLimits } from "../queries/query.ts";
import type { ScoredOrganization } from "./population.ts";
import type { RunBody } from "./record-bodies.ts";
import { keepRecord, newestRecord, recordOf, runAfter, type ScoreRecord } from "./records.ts";

type Run = Pick<ScoreRecord<RunBody>, "day" | "body">;

/** Stores the shifts that a run makes, of which only the rows are stored yet. @throws WarehouseError */
export async function storeShifts(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  run: Run,
): Promise<void> {
  const key = { organization: organization.id, kind };
  const before = await newestRecord(warehouse, { ...key, what: "run" }, run.day - 1);
  if (before !== undefined) await storeShift(warehouse, organization, kind, { run, before });
  const after = await runAfter(warehouse, key, run.day);
  if (after !== undefined) await storeShift(warehouse, organization, kind, { run: after, before: run });
}

async function storeShift(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  { run, before }: { readonly run: Run; readonly before: Run },
): Promise<void> {
  const key = { organization: organization.id, kind, what: "shift" } as const;
  const settingsKey = JSON.stringify([before.day, before.body.rowsVersion, run.body.rowsVersion]);
  const stored = await recordOf(warehouse, key, run.day);
  if (stored?.body.settingsKey === settingsKey) return;
  const version = versionAbove(stored?.version ?? 0);
  if (rulesKey(run) !== rulesKey(before)) {
    const { sql, parameters } = await queryByRules(
      warehouse,
      { organization, kind, now: run, rules: before },
      ["entity", "health", "colour", `ifNull(risk >= {wasHighFrom:Float64}, false) AS wasHigh`],
    );
    await warehouse.command(
      `INSERT INTO ${kind}_score_shifts (organization, day, ${kind}, version, health, colour_before, colour, was_high, is_high)
       SETTINGS insert_deduplicate = 0
       SELECT {shiftOf:UInt32}, ${dayParameter("shiftDay")}, entity, {shiftVersion:UInt64},
         ifNull(now.health - before.health, 0) AS shift, before.colour, now.colour, wasHigh, isHigh
       FROM (
         SELECT ${kind} AS entity, health, toString(colour) AS colour, ifNull(risk >= {isHighFrom:Float64}, false) AS isHigh
         FROM ${kind}_scores FINAL
         WHERE organization = {shiftOf:UInt32} AND day = ${dayParameter("shiftDay")} AND version >= {shiftRows:UInt64}) AS now
       INNER JOIN (${sql}) AS before USING (entity)
       WHERE abs(shift) > ${leastShift} OR before.colour != now.colour OR wasHigh != isHigh
       SETTINGS allow_simdjson = 0`,
      {
        ...parameters,
        shiftOf: organization.id,
        shiftDay: run.day,
        shiftVersion: version,
        shiftRows: run.body.rowsVersion,
        wasHighFrom: before.body.riskScale.high,
        isHighFrom: run.body.riskScale.high,
      },
      scoringLimits,
    );
  }
  await keepRecord(warehouse, key, {
    day: run.day,
    version,
    body: { rowsVersion: version, settingsKey },
  });
}

/** Points of health. Of a refit that moves nobody by as much nothing is stored. */
const leastShift = 0.01;
