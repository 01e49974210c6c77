/** Handler of the JSON API about the last event of anybody. */
import type { Static } from "typebox";
import type { NoParameters } from "../../../contract/api/api.ts";
import type { LatestEventAnswer } from "../../../contract/api/lists.ts";
import { latestEvent } from "../../analytics/analytics.ts";
import { today } from "../api/days.ts";
import type { ApiContext } from "../api/route.ts";
import { timelineEvent } from "../api/rows.ts";
import { withLabels } from "./event-labels.ts";

/** GET /api/latest-event */
export async function latestOfAll(
  context: ApiContext<typeof NoParameters, "">,
): Promise<Static<typeof LatestEventAnswer>> {
  const { warehouse, organization } = context;
  const found = await latestEvent(warehouse, { organization: organization.id, toDay: today(context) });
  const [event] = await withLabels(context, found === undefined ? [] : [found]);
  if (event === undefined) return { event: null };
  return { event: { ...timelineEvent(event), userId: event.userId, userLabel: event.userLabel } };
}
