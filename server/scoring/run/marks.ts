/**
 * Marks in an organization's history of scores where their rules changed. Scores stay as they are when settings or
 * exclusions change, so a history is read with these marks.
 */
import type { Settings } from "../../../contract/settings.ts";
import { type SettingDifference, settingDifferences, storedSettings } from "../../ledger/ledger.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { excludedOfKey } from "./population.ts";

/** The first scored day under other settings, or without other users, than the scored day before it. */
export interface Mark {
  readonly day: number;
  /** Of the settings that scores depend on. */
  readonly changes: readonly SettingDifference[];
  /** Whether others were left out as internal, test or bot. */
  readonly exclusionsChanged: boolean;
}

interface MarkedRun {
  readonly day: number;
  readonly settings: string;
  readonly settingsKey: string;
  readonly settingsBefore: string;
  readonly settingsKeyBefore: string;
}

export interface MarksQuestion {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly fromDay: number;
  readonly toDay: number;
}

const ofRuns = "organization = {organization:UInt32} AND kind = {kind:String} AND what = 'run'";

/** The marks of all scored days between two, both included, the oldest first. */
export async function marksOf(warehouse: Warehouse, question: MarksQuestion): Promise<Mark[]> {
  const runs = await warehouse.rows<MarkedRun>(
    `WITH
       changes AS (
         SELECT day, dayBefore, settingsKey, settingsKeyBefore
         FROM (
           SELECT day, settings_key AS settingsKey, row_number() OVER byDay AS number,
             lagInFrame(day) OVER byDay AS dayBefore, lagInFrame(settings_key) OVER byDay AS settingsKeyBefore
           FROM (SELECT day, settings_key FROM score_records FINAL WHERE ${ofRuns})
           WINDOW byDay AS (ORDER BY day ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
         WHERE number > 1 AND settingsKey != settingsKeyBefore
           AND day BETWEEN addDays(toDate32('1970-01-01'), {fromDay:Int32})
           AND addDays(toDate32('1970-01-01'), {toDay:Int32})),
       changed AS (
         SELECT day, JSONExtractRaw(body, 'settings') AS settings FROM score_records FINAL
         WHERE ${ofRuns} AND day IN (SELECT arrayJoin([day, dayBefore]) FROM changes))
     SELECT toInt32(changes.day) AS day, now.settings AS settings, settingsKey, before.settings AS settingsBefore,
       settingsKeyBefore
     FROM changes
     INNER JOIN changed AS now ON now.day = changes.day
     INNER JOIN changed AS before ON before.day = changes.dayBefore
     ORDER BY day`,
    { ...question },
  );
  return runs
    .map((run) => ({
      day: run.day,
      changes: scoringDifferences(storedSettings(run.settingsBefore), storedSettings(run.settings)),
      exclusionsChanged: excludedOfKey(run.settingsKey) !== excludedOfKey(run.settingsKeyBefore),
    }))
    .filter(hasDifference);
}

/** Whether rules changed. A release may store the same settings in another form. */
function hasDifference({ changes, exclusionsChanged }: Mark): boolean {
  return exclusionsChanged || changes.length > 0;
}

/** The differences of the settings that scores depend on. */
function scoringDifferences(before: Settings, after: Settings): SettingDifference[] {
  return settingDifferences(before, after).filter(
    ({ setting }) => setting !== "weekStart" && setting !== "ordinaryEvents",
  );
}
