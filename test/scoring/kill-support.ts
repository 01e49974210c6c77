/** The organization whose scores are thinned out while the process is killed. */
import { parseDay } from "../../server/calendar/days.ts";

const today = parseDay("2026-03-12") ?? Number.NaN;

/** It has scores of each of these days. */
export const thinned = {
  organization: 2,
  today,
  fromDay: parseDay("2025-08-01") ?? Number.NaN,
  toDay: today,
};
