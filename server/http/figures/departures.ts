/** GET /api/departures: the events that may mean that users have left, and wait for an answer. */
import type { Static } from "typebox";
import type { NoParameters } from "../../../contract/api/api.ts";
import type { DeparturesAnswer } from "../../../contract/api/departures.ts";
import { askedAbout, isDepartureName } from "../../../contract/api/departures-body.ts";
import { usersOfEvents } from "../../analytics/analytics.ts";
import { eventNamesOf } from "../../warehouse/warehouse.ts";
import { today } from "../api/days.ts";
import type { ApiContext } from "../api/route.ts";
import { withLabels } from "./event-labels.ts";

/** More questions than this do not fit one page. */
const maxAsked = 20;

/** GET /api/departures */
export async function departuresToAnswer(
  context: ApiContext<typeof NoParameters, "">,
): Promise<Static<typeof DeparturesAnswer>> {
  const { warehouse, ledger, organization } = context;
  const { settings } = await ledger.settings.get(organization.id);
  const events = askedAbout(await eventNamesOf(warehouse, organization.id), settings);
  if (events.length === 0) return { events: [] };
  const question = { organization: organization.id, events, toDay: today(context), limit: maxAsked };
  const rows = await withLabels(context, await usersOfEvents(warehouse, question));
  return { events: rows.map((row) => ({ ...row, isPassive: isDepartureName(row.event) })) };
}
