/** The days on which settings, exclusions or the model changed, in words. */
import type { Reads } from "../../api/paths.ts";
import { namedModel } from "../../text/model-names.ts";
import { settingName, settingValue } from "../../text/setting-names.ts";

export type ModelChange = Reads["/api/model/changes"]["answer"]["changes"][number];

interface SettingsMark {
  readonly day: string;
  readonly changes: readonly { readonly setting: string; readonly from: unknown; readonly to: unknown }[];
  readonly exclusionsChanged: boolean;
}

/** A day on which the rules of scores changed. */
export interface HistoryMark {
  /** By which it is found in the drawing. */
  readonly letter: string;
  readonly day: string;
  readonly texts: readonly string[];
}

/** The marks within the days of a history, one a day, the oldest first. */
export function historyMarks(
  history: { readonly days: readonly { readonly day: string }[]; readonly marks?: readonly SettingsMark[] },
  models: readonly ModelChange[],
): HistoryMark[] {
  const [first, last] = [history.days[0]?.day, history.days.at(-1)?.day];
  if (first === undefined || last === undefined) return [];
  const marks = [
    ...(history.marks ?? []).map(({ day, changes, exclusionsChanged }) => ({
      day,
      texts: [...changes.map(settingText), ...(exclusionsChanged ? ["Exclusions changed"] : [])],
    })),
    ...models.map(({ day, from, to }) => ({
      day,
      texts: [`Model of churn risk: ${namedModel(to)}, before ${namedModel(from)}`],
    })),
  ].filter(({ day }) => day > first && day <= last);
  const byDay = Map.groupBy(marks, ({ day }) => day);
  return [...byDay.keys()].sort().map((day, index) => ({
    letter: letterOf(index),
    day,
    texts: (byDay.get(day) ?? []).flatMap(({ texts }) => texts),
  }));
}

/** A to Z, then AA, AB … */
function letterOf(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : letterOf(Math.floor(index / 26) - 1) + letter;
}

function settingText({ setting, from, to }: SettingsMark["changes"][number]): string {
  return `${settingName(setting)}: ${settingValue(from)} → ${settingValue(to)}`;
}
