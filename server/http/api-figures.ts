/** Handlers of the JSON API about all users together. */
import type { Static } from "typebox";
import type { ActiveUsersAnswer, ActiveUsersParameters } from "../../contract/api.ts";
import { activeUsers } from "../analytics/active-users.ts";
import { formatDay } from "../calendar/days.ts";
import type { ApiContext } from "./api.ts";

/** GET /api/active-users */
export async function activeUsersByDay({
  warehouse,
  organization,
  zone,
  nowMs,
  query,
}: ApiContext<typeof ActiveUsersParameters, "">): Promise<Static<typeof ActiveUsersAnswer>> {
  const question = { organization: organization.id, toDay: zone.dayOf(nowMs()), days: query.days };
  const days = await activeUsers(warehouse, question);
  return { days: days.map((figures) => ({ ...figures, day: formatDay(figures.day) })) };
}
