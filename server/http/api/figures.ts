/** Handlers of the JSON API about all users together. */
import type { Static } from "typebox";
import type { ActiveUsersAnswer, ActiveUsersParameters } from "../../../contract/api/figures.ts";
import { activeUsers } from "../../analytics/analytics.ts";
import { formatDay } from "../../calendar/calendar.ts";
import { lastDay } from "./days.ts";
import type { ApiContext } from "./route.ts";

/** GET /api/active-users */
export async function activeUsersByDay(
  context: ApiContext<typeof ActiveUsersParameters, "">,
): Promise<Static<typeof ActiveUsersAnswer>> {
  const { warehouse, organization, query } = context;
  const passiveEvents = await context.passiveEvents();
  const question = {
    organization: organization.id,
    toDay: lastDay(context),
    days: query.days,
    passiveEvents,
  };
  const days = await activeUsers(warehouse, question);
  return { days: days.map((figures) => ({ ...figures, day: formatDay(figures.day) })) };
}
