/** Handlers of the JSON API about all users together. */
import type { Static } from "typebox";
import type { NoParameters, RetentionAnswer } from "../../contract/api.ts";
import type { ActiveUsersAnswer, ActiveUsersParameters } from "../../contract/api-figures.ts";
import { activeUsers } from "../analytics/active-users.ts";
import { retention } from "../analytics/retention.ts";
import { formatDay } from "../calendar/days.ts";
import type { ApiContext } from "./api.ts";
import { lastDay } from "./api-days.ts";

/** GET /api/active-users */
export async function activeUsersByDay(
  context: ApiContext<typeof ActiveUsersParameters, "">,
): Promise<Static<typeof ActiveUsersAnswer>> {
  const { warehouse, organization, query } = context;
  const question = { organization: organization.id, toDay: lastDay(context), days: query.days };
  const days = await activeUsers(warehouse, question);
  return { days: days.map((figures) => ({ ...figures, day: formatDay(figures.day) })) };
}

/** GET /api/retention */
export async function retentionByWeek({
  warehouse,
  organization,
  zone,
  nowMs,
}: ApiContext<typeof NoParameters, "">): Promise<Static<typeof RetentionAnswer>> {
  const question = { organization: organization.id, toDay: zone.dayOf(nowMs()) };
  const cells = await retention(warehouse, question);
  return { cells: cells.map((cell) => ({ ...cell, cohortDay: formatDay(cell.cohortDay) })) };
}
