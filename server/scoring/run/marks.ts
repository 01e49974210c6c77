/**
 * Marks in an organization's history of scores where their rules changed. Scores stay as they are when
 * settings or exclusions change, so a history is read with these marks.
 */
import type { Settings } from "../../../contract/settings.ts";
import type { Zone } from "../../calendar/zone.ts";
import { type SettingDifference, settingDifferences } from "../../ledger/stores/settings.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { settingsWithoutScores } from "../scores/settings.ts";
import { excludedOfKey } from "./population.ts";
import { recordsOf } from "./records.ts";

/** The first scored day under other settings, or without other users, than the scored day before it. */
export interface Mark {
  readonly day: number;
  /** Of the settings that scores depend on. */
  readonly changes: readonly SettingDifference[];
  /** Whether others were left out as internal, test or bot. */
  readonly exclusionsChanged: boolean;
}

/** A run whose key differs from that of the run before it. */
interface ChangedRun {
  readonly day: number;
  readonly dayBefore: number;
  readonly settingsKey: string;
  readonly settingsKeyBefore: string;
  readonly shownAtMs: number;
  readonly shownAtMsBefore: number;
}

export interface MarksQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly fromDay: number;
  readonly toDay: number;
}

/** The marks of all scored days between two, both included, the oldest first. Days that were first shown on
 * one day, by `zone`, are scored again together when settings change: they differ only until the last of them
 * is done, and have no mark. */
export async function marksOf(
  warehouse: Warehouse,
  zone: Pick<Zone, "dayOf">,
  question: MarksQuestion,
): Promise<Mark[]> {
  const changed = await warehouse.rows<ChangedRun>(
    `SELECT toInt32(day) AS day, toInt32(dayBefore) AS dayBefore, settingsKey, settingsKeyBefore, shownAtMs, shownAtMsBefore
     FROM (
       SELECT * FROM (
         SELECT day, settings_key AS settingsKey, first_published_at_ms AS shownAtMs, row_number() OVER byDay AS number,
           lagInFrame(day) OVER byDay AS dayBefore, lagInFrame(settings_key) OVER byDay AS settingsKeyBefore,
           lagInFrame(first_published_at_ms) OVER byDay AS shownAtMsBefore
         FROM (
           SELECT day, settings_key, first_published_at_ms FROM score_records FINAL
           WHERE organization = {organization:UInt32} AND kind = {kind:String} AND what = 'run')
         WINDOW byDay AS (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
       WHERE number > 1 AND settingsKey != settingsKeyBefore
         AND day BETWEEN addDays(toDate32('1970-01-01'), {fromDay:Int32})
         AND addDays(toDate32('1970-01-01'), {toDay:Int32}))
     ORDER BY day`,
    { ...question },
  );
  const { organization, kind } = question;
  const apart = changed.filter(
    ({ shownAtMs, shownAtMsBefore }) => zone.dayOf(shownAtMs) !== zone.dayOf(shownAtMsBefore),
  );
  const days = [...new Set(apart.flatMap(({ day, dayBefore }) => [day, dayBefore]))];
  const runs = await recordsOf(warehouse, { organization, kind, what: "run" }, days);
  return apart
    .map(({ day, dayBefore, settingsKey, settingsKeyBefore }) => {
      const [before, now] = [runs.get(dayBefore)?.body.settings, runs.get(day)?.body.settings];
      return {
        day,
        changes: before === undefined || now === undefined ? [] : scoringDifferences(before, now),
        exclusionsChanged: excludedOfKey(settingsKey) !== excludedOfKey(settingsKeyBefore),
      };
    })
    .filter(hasDifference);
}

/** Whether rules changed. A release may store the same settings in another form. */
function hasDifference({ changes, exclusionsChanged }: Mark): boolean {
  return exclusionsChanged || changes.length > 0;
}

/** The differences of the settings that scores depend on. */
function scoringDifferences(before: Settings, after: Settings): SettingDifference[] {
  const others: readonly string[] = settingsWithoutScores;
  return settingDifferences(before, after).filter(
    ({ setting }) => !others.includes(setting.split(".")[0] ?? ""),
  );
}
