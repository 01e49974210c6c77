/** Alerts as the API answers them. */
import { ApiError } from "../../../../contract/refusal.ts";
import { formatDay } from "../../../calendar/calendar.ts";
import type { Alert, EntityRef } from "../../../ledger/ledger.ts";
import type { AnalysisHandlers, OrganizationContext } from "../../api/context.ts";
import { today } from "../days.ts";
import { instant, instantOrNull } from "../rows.ts";
import { thoseInSegment } from "../segments/evaluation.ts";

export const alertsHandlers = {
  "GET /api/alerts": async (context) => {
    const { ledger, organization, query, actor } = context;
    const { state, rule, segment, limit, offset } = query;
    const filter = {
      ...{ state, rule, today: today(context), entity: entityOf(query) },
      assignee: assigneeOf(query.assignee, actor),
    };
    const among =
      segment === undefined
        ? undefined
        : await thoseInSegment(context, segment, await ledger.alerts.entities(organization.id, filter));
    const { total, alerts } = await ledger.alerts.list(organization.id, { ...filter, among, limit, offset });
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
