/** Outages that an organization declares. The right to read shows them. Changes need the right to manage. */
import { noSuch, Refusal } from "../../contract/refusal.ts";
import { formatDay } from "../calendar/days.ts";
import { instant } from "../calendar/instant.ts";
import { zoneOf } from "../calendar/zone.ts";
import { dayOfParameter } from "../http/api/days.ts";
import type { IntakeHandlers } from "../http/api/intake-api.ts";
import { idIn } from "../http/api/request.ts";
import type { DeclaredOutage } from "../ledger/stores/outages.ts";

export const outageHandlers = {
  "GET /api/outages": async ({ ledger, place }) => ({
    answer: { outages: (await ledger.outages.list(place.organization.id)).map(outageAnswer) },
  }),

  "POST /api/outages": async ({ ledger, place: { organization, actor }, body, nowMs }) => {
    const days = { fromDay: dayOfParameter("from", body.from), toDay: dayOfParameter("to", body.to) };
    const { timezone } = organization;
    if (days.toDay > zoneOf(timezone).dayOf(nowMs)) {
      throw new Refusal(`to is not valid: ${body.to} has not come yet in ${timezone}; send today or before.`);
    }
    return { answer: outageAnswer(await ledger.outages.add(organization.id, days, actor, nowMs)) };
  },

  "DELETE /api/outages/:id": async ({ ledger, place: { organization, actor }, path, nowMs }) => {
    const isGone = await ledger.outages.remove(organization.id, idIn(path.id, "outage"), actor, nowMs);
    if (!isGone) throw noSuch("outage");
    return {};
  },
} satisfies Partial<IntakeHandlers>;

function outageAnswer({ id, fromDay, toDay, createdAtMs }: DeclaredOutage) {
  return { id, from: formatDay(fromDay), to: formatDay(toDay), createdAt: instant(createdAtMs) };
}
