/** Alerts as the API answers them. */
import { ApiError } from "../../../../contract/refusal.ts";
import { formatDay } from "../../../calendar/calendar.ts";
import type { Alert, EntityRef } from "../../../ledger/ledger.ts";
import type { AnalysisHandlers, OrganizationContext } from "../../api/context.ts";
import { instant, instantOrNull } from "../rows.ts";

export const alertsHandlers = {
  "GET /api/alerts": async ({ ledger, organization, zone, query, actor, nowMs }) => {
    const { state, rule, limit, offset } = query;
    const page = { state, rule, limit, offset, today: zone.dayOf(nowMs()), entity: entityOf(query) };
    const question = { ...page, assignee: assigneeOf(query.assignee, actor) };
    const { total, alerts } = await ledger.alerts.list(organization.id, question);
    return { total, alerts: alerts.map(alertAnswer) };
  },
} satisfies Partial<AnalysisHandlers>;

function entityOf({
  user,
  account,
}: {
  readonly user?: string;
  readonly account?: string;
}): EntityRef | undefined {
  if (user !== undefined && account !== undefined) {
    throw new ApiError("validation_error", "user and account are not valid together: send one of them.");
  }
  if (user !== undefined) return { kind: "user", id: user };
  return account === undefined ? undefined : { kind: "account", id: account };
}

/** @throws ApiError when a read key asks for its own */
function assigneeOf(
  assignee: string | undefined,
  actor: OrganizationContext["actor"],
): number | null | undefined {
  if (assignee === undefined) return undefined;
  if (assignee === "nobody") return null;
  if (assignee !== "me") return Number(assignee);
  if (actor.person !== null) return actor.person.id;
  throw new ApiError("validation_error", "assignee is not valid: a read key has no `me`, so send an id.");
}

/** The answer about an alert. */
export function alertAnswer(alert: Alert) {
  const { id, rule, version, entity, before, after, risk, expectedLoss, arm, isSent, closedWhy } = alert;
  const { assignee, verdict, verdictBy, note } = alert;
  const [entityId, entityLabel] =
    entity.kind === "source" ? [entity.source, entity.source] : [entity.id, entity.label];
  return {
    ...{ id, rule, version, entityKind: entity.kind, entityId, entityLabel },
    ...{ firedDay: formatDay(alert.firedDay), firedAt: instant(alert.firedAtMs), before, after },
    ...{ reasons: alert.reasons.map(({ text }) => text), risk, expectedLoss, arm, isSent },
    ...{ closedDay: dayOrNull(alert.closedDay), closedWhy, assignee },
    ...{ snoozedUntil: dayOrNull(alert.snoozedUntil), verdict, verdictBy },
    ...{ verdictAt: instantOrNull(alert.verdictAtMs), note },
  };
}

function dayOrNull(day: number | null): string | null {
  return day === null ? null : formatDay(day);
}
