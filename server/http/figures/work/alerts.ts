/** Alerts as the API answers them. */
import { ApiError } from "../../../../contract/refusal.ts";
import { formatDay } from "../../../calendar/calendar.ts";
import {
  type Alert,
  type AlertQuestion,
  type AlertWeight,
  compareWeights,
  type EntityRef,
} from "../../../ledger/ledger.ts";
import type { AnalysisHandlers, OrganizationContext } from "../../api/context.ts";
import { today } from "../days.ts";
import { instant, instantOrNull } from "../rows.ts";
import { numbersOf } from "../segments/evaluation.ts";

export const alertsHandlers = {
  "GET /api/alerts": async (context) => {
    const { ledger, organization, query, actor } = context;
    const { state, rule, segment, limit, offset } = query;
    const filter = {
      ...{ state, rule, today: today(context), entity: entityOf(query) },
      assignee: assigneeOf(query.assignee, actor),
    };
    const question = { ...filter, limit, offset };
    const { total, alerts } =
      segment === undefined
        ? await ledger.alerts.list(organization.id, question)
        : await listOfSegment(context, segment, question);
    return { total, alerts: alerts.map(alertAnswer) };
  },
} satisfies Partial<AnalysisHandlers>;

/** Alerts that the ledger reads together. It takes 2 ms of the thread that answers writes. */
const weightsTogether = 2_000;

/** The alerts about members of a segment. They are chosen and sorted here. @throws ApiError when there is no such segment */
async function listOfSegment(
  context: OrganizationContext,
  segment: number,
  { limit, offset, ...filter }: AlertQuestion,
): Promise<{ readonly total: number; readonly alerts: readonly Alert[] }> {
  const { ledger, organization } = context;
  const { users, accounts } = await numbersOf(context, segment);
  const found: AlertWeight[] = [];
  let read: readonly AlertWeight[];
  let after = 0;
  do {
    read = await ledger.alerts.weights(organization.id, filter, after, weightsTogether);
    found.push(...read.filter(({ user, account }) => users.has(user) || accounts.has(account)));
    after = read.at(-1)?.id ?? after;
  } while (read.length === weightsTogether);
  const page = found.toSorted(compareWeights).slice(offset, offset + limit);
  const ids = page.map(({ id }) => id);
  return { total: found.length, alerts: await ledger.alerts.withIds(organization.id, ids, filter) };
}

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
