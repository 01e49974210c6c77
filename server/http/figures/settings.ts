/** Handlers of the JSON API about an organization's settings. */

import { askedAbout, isDepartureName } from "../../../contract/api/departures-body.ts";
import type { RouteAnswer } from "../../../contract/api/routes.ts";
import { usersOfEvents } from "../../analytics/analytics.ts";
import type { SettingsVersion } from "../../ledger/ledger.ts";
import { eventNamesOf } from "../../warehouse/warehouse.ts";
import type { AnalysisHandlers } from "../api/context.ts";
import { today } from "./days.ts";
import { withLabels } from "./event-labels.ts";
import { instant, instantOrNull } from "./rows.ts";

export const settingsHandlers = {
  "GET /api/settings": async ({ ledger, organization }) =>
    settingsAnswer(await ledger.settings.get(organization.id)),

  "PATCH /api/settings": async ({ ledger, organization, body, actor, nowMs }) =>
    settingsAnswer(await ledger.settings.change(organization.id, body, actor, nowMs())),

  "GET /api/settings/history": async ({ ledger, organization, query: { limit, before } }) => {
    const page = { limit, ...(before !== undefined && { beforeVersion: before }) };
    const records = await ledger.settings.history(organization.id, page);
    return {
      versions: records.map(({ version, changedAtMs, changedBy, changes }) => ({
        version,
        changedAt: instant(changedAtMs),
        changedBy,
        changes: changes.map((change) => ({ ...change })),
      })),
    };
  },

  "GET /api/departures": async (context) => {
    const { warehouse, ledger, organization } = context;
    const { settings } = await ledger.settings.get(organization.id);
    const events = askedAbout(await eventNamesOf(warehouse, organization.id), settings);
    if (events.length === 0) return { events: [] };
    const question = { organization: organization.id, events, toDay: today(context), limit: maxAsked };
    const rows = await withLabels(context, await usersOfEvents(warehouse, question));
    return { events: rows.map((row) => ({ ...row, isPassive: isDepartureName(row.event) })) };
  },
} satisfies Partial<AnalysisHandlers>;

function settingsAnswer(stored: SettingsVersion): RouteAnswer<"GET /api/settings"> {
  const { version, changedAtMs, changedBy, settings } = stored;
  return { version, changedAt: instantOrNull(changedAtMs), changedBy, settings };
}

/** More questions than this do not fit one page. */
const maxAsked = 20;
