/** A day as it is typed. */
import { dayText } from "./format.ts";

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** 28 Nov 2026, 28 November 2026, 28 Nov (of this year) or 2026-11-28 as YYYY-MM-DD; undefined for anything
 * else. 11/28/2026 is refused: half of the world reads it in the other order. @param today YYYY-MM-DD */
export function typedDay(text: string, today: string): string | undefined {
  const iso = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})\s*$/.exec(text);
  if (iso !== null) return dayOf(iso[1], Number(iso[2]), iso[3]);
  const [, day, name = "", year = today.slice(0, 4)] =
    /^\s*(\d{1,2})\.?\s+(\p{L}{3,9})\.?,?(?:\s+(\d{4}))?\s*$/u.exec(text) ?? [];
  const month = months.indexOf(name.slice(0, 3).toLowerCase()) + 1;
  return month === 0 ? undefined : dayOf(year, month, day);
}

function dayOf(year = "", month = 0, day = ""): string | undefined {
  const text = `${year}-${String(month).padStart(2, "0")}-${day.padStart(2, "0")}`;
  const ms = Date.parse(`${text}T00:00:00Z`);
  // 31 February is 3 March to the browser.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text) ? text : undefined;
}

/** What is wrong with a typed day; undefined for a day that may be chosen. @param min,max YYYY-MM-DD */
export function dayProblem(
  day: string | undefined,
  { min, max }: { readonly min?: string | undefined; readonly max?: string | undefined },
): string | undefined {
  if (day === undefined) return "Write the day as 28 Nov 2026.";
  if (max !== undefined && day > max) return `Choose a day up to ${dayText(max)}.`;
  return min !== undefined && day < min ? `Choose a day from ${dayText(min)} on.` : undefined;
}
