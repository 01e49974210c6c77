/** The users and accounts of a segment that have tasks. Analysis finds them, because intake evaluates no
 * segment. */
import { errorMessages } from "../../../contract/errors.ts";
import { askAnalysis } from "../../http/api/ask-analysis.ts";
import type { Place } from "../../http/api/gate.ts";
import type { EntitiesByNumber } from "../../ledger/stores/entity-rows.ts";
import type { Peer } from "../../process/control.ts";
import { taskEntitiesPath } from "./task-entities.ts";
import type { TaskFilter } from "./tasks.ts";

/** An evaluation of 50 segments with 60 conditions takes about a second. */
const patienceMs = 60_000;

/** @throws ApiError when there is no such segment, or analysis does not answer: then a later try can
 * succeed */
export async function tasksOfSegment(
  analysis: Peer,
  place: Pick<Place, "organization" | "actor">,
  segment: number,
  { list, today, assignee }: TaskFilter,
): Promise<EntitiesByNumber> {
  const query = new URLSearchParams({ segment: String(segment), list, today: String(today) });
  if (assignee !== undefined) query.set("assignee", String(assignee ?? "nobody"));
  return (await askAnalysis(analysis, place, {
    path: `${taskEntitiesPath}?${query}`,
    patienceMs,
    away: errorMessages.noTasksOfSegment,
  })) as EntitiesByNumber;
}
