/** Alerts as the API answers them. */

import { isOpportunity } from "../../../contract/alerts/rules.ts";
import { callListLimits } from "../../../contract/call-list.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { payersNow } from "../../analytics/revenue/payers-now.ts";
import { dayOrNull, formatDay } from "../../calendar/days.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import { msPerDay } from "../../calendar/zone.ts";
import { billingOf } from "../../figures/payers.ts";
import { scoreContext } from "../../figures/score-context.ts";
import { numbersOf } from "../../figures/segment-evaluation.ts";
import type { AnalysisHandlers, OrganizationContext } from "../../http/api/context.ts";
import { today } from "../../http/api/days.ts";
import type { EntityRef } from "../../ledger/stores/entity-rows.ts";
import { expectedLossOfPayer } from "../../revenue/payer-now.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { risksOfRun } from "../../scoring/queries/lists/reading.ts";
import { rowsOf } from "../../scoring/run/entity.ts";
import { type Alert, type AlertQuestion, type AlertWeight, compareWeights } from "./store/alerts.ts";

export const alertsHandlers = {
  "GET /api/alerts": async (context) => {
    const { ledger, organization, query, actor } = context;
    const { state, rule, segment, limit, offset } = query;
    const filter = {
      state,
      rule,
      today: today(context),
      entity: entityOf(query),
      assignee: assigneeOf(query.assignee, actor),
    };
    const question = { ...filter, limit, offset };
    // Alerts that are closed or judged have the values of the day on which they fired.
    if (segment === undefined && state !== "open") {
      const { total, alerts } = await ledger.alerts.list(organization.id, question);
      return { total, alerts: alerts.map(alertAnswer) };
    }
    const members = segment === undefined ? undefined : await numbersOf(context, segment);
    const { total, alerts } = await sortedList(context, members, question);
    return { total, alerts: alerts.map(alertAnswer) };
  },
} satisfies Partial<AnalysisHandlers>;

/** Alerts that the ledger reads together. It takes 2 ms of the thread that answers writes. */
const weightsTogether = 2_000;

/** The alerts about members of a segment, and open alerts. They are chosen and sorted here. @throws ApiError
 * when there is no such segment */
async function sortedList(
  context: OrganizationContext,
  members: Awaited<ReturnType<typeof numbersOf>> | undefined,
  { limit, offset, ...filter }: AlertQuestion,
): Promise<{ readonly total: number; readonly alerts: readonly Alert[] }> {
  const { ledger, organization } = context;
  const found: AlertWeight[] = [];
  let read: readonly AlertWeight[];
  let after = 0;
  do {
    read = await ledger.alerts.weights(organization.id, filter, after, weightsTogether);
    found.push(
      ...read.filter(
        ({ user, account }) =>
          members === undefined || members.users.has(user) || members.accounts.has(account),
      ),
    );
    after = read.at(-1)?.id ?? after;
  } while (read.length === weightsTogether);
  const weights = filter.state === "open" ? await weightsNow(context, found) : found;
  const page = weights.toSorted(compareWeights).slice(offset, offset + limit);
  const ids = page.map(({ id }) => id);
  const alerts = await ledger.alerts.withIds(organization.id, ids, filter);
  const byId = new Map(page.map((weight) => [weight.id, weight]));
  return {
    total: found.length,
    alerts: alerts.map((alert) => {
      const { risk = alert.risk, expectedLoss = alert.expectedLoss } = byId.get(alert.id) ?? {};
      return { ...alert, risk, expectedLoss };
    }),
  };
}

/** The alerts with the churn risks and expected losses of payers now: a rule may have fired before there was
 * a risk. What is certain stays: the alert about a scheduled end has the risk 1. Alerts about customers who
 * could buy more have no value. */
async function weightsNow(
  context: OrganizationContext,
  found: readonly AlertWeight[],
): Promise<readonly AlertWeight[]> {
  const now = new Map<string, Pick<AlertWeight, "risk" | "expectedLoss">>();
  const { ledger, organization } = context;
  const rules = await ledger.alertRules.list(organization.id, today(context));
  const gains = new Set(rules.filter(({ condition }) => isOpportunity(condition)).map(({ id }) => id));
  for (const kind of ["user", "account"] as const) {
    const numbers = [...new Set(found.map((one) => one[kind]).filter((number) => number > 0))];
    for (const [number, weight] of await lossesNow(context, kind, numbers))
      now.set(`${kind} ${number}`, weight);
  }
  return found.map((alert) => {
    const key = alert.user > 0 ? `user ${alert.user}` : `account ${alert.account}`;
    const weight = now.get(key);
    return alert.risk === 1 || weight === undefined || gains.has(alert.ofRule)
      ? alert
      : { ...alert, ...weight };
  });
}

/** Payers whose numbers are a part of one query. */
const payersTogether = 2_000;

/** The churn risks and expected losses of payers, as the call list has them. Those without a risk and a
 * scheduled end are left out. */
async function lossesNow(
  context: OrganizationContext,
  kind: EntityKind,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, Pick<AlertWeight, "risk" | "expectedLoss">>> {
  const losses = new Map<number, Pick<AlertWeight, "risk" | "expectedLoss">>();
  if (numbers.length === 0) return losses;
  const { warehouse, organization, nowMs } = context;
  const { run } = await scoreContext(context, kind);
  const { payers } = await billingOf(context, kind, run);
  if (payers === undefined || run === undefined) return losses;
  const untilMs = nowMs() + callListLimits.endDays * msPerDay;
  for (let at = 0; at < numbers.length; at += payersTogether) {
    const some = numbers.slice(at, at + payersTogether);
    const { sql, parameters } = risksOfRun(rowsOf(organization.id, kind, run));
    const rows = await warehouse.rows<{ readonly entity: number; readonly risk: number | null }>(
      `SELECT entity, risk FROM (${sql}) WHERE entity IN {entities:Array(UInt32)}`,
      { ...parameters, entities: some },
    );
    const risks = new Map(rows.map(({ entity, risk }) => [entity, risk]));
    for (const [number, payer] of await payersNow(warehouse, { ...payers, untilMs }, some)) {
      const risk = risks.get(number) ?? null;
      const expectedLoss = expectedLossOfPayer(payer, risk);
      if (expectedLoss !== null) losses.set(number, { risk, expectedLoss });
    }
  }
  return losses;
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
  const { assignee, verdict, outcome, verdictBy, note } = alert;
  const [entityId, entityLabel] =
    entity.kind === "source" ? [entity.source, entity.source] : [entity.id, entity.label];
  return {
    id,
    rule,
    version,
    entityKind: entity.kind,
    entityId,
    entityLabel,
    firedDay: formatDay(alert.firedDay),
    firedAt: instant(alert.firedAtMs),
    before,
    after,
    reasons: alert.reasons.map(({ text }) => text),
    risk,
    expectedLoss,
    arm,
    isSent,
    closedDay: dayOrNull(alert.closedDay),
    closedWhy,
    assignee,
    snoozedUntil: dayOrNull(alert.snoozedUntil),
    verdict,
    outcome,
    verdictBy,
    verdictAt: instantOrNull(alert.verdictAtMs),
    note,
  };
}
