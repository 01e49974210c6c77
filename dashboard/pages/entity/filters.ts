/** The choices of the pages of a user and of an account. They are in the address. */
import { choiceFilter, labelledFilter, textFilter } from "../../parts/list/filters.ts";

export const filters = {
  /** How many days before scores are compared with. */
  since: labelledFilter({ "7": "7 days before", "28": "28 days before", "90": "90 days before" }, "28"),
  /** The days of the history. */
  range: labelledFilter({ "90": "90 days", "365": "A year", all: "Everything" }, "365"),
  /** The year of the calendar (e.g. 2026), or nothing for the days until today. */
  year: textFilter(),
  /** The event that the timeline shows, or nothing for all. */
  event: textFilter(),
  /** The tab of what the team does. */
  work: choiceFilter(["tasks", "notes", "contacts"], "tasks"),
} as const;
