/** What payers pay: beside the rows of lists, and on the page of one. */
import type { RouteAnswer } from "../../../../contract/api/routes.ts";
import { currencyDigits } from "../../../../contract/billing/currencies.ts";
import {
  accountsNumbered,
  type BillingOfRow,
  hasPayers,
  type PayerSubscriptions,
  type PayersQuestion,
  plansInUse,
  type SubscriptionNow,
  subscriptionsOf,
  usersNumbered,
} from "../../../analytics/analytics.ts";
import { type EntityKind, rowsOf } from "../../../scoring/scoring.ts";
import type { AnalysisHandlers, ApiContext, OrganizationContext } from "../../api/context.ts";
import { knownAccount } from "../accounts.ts";
import { today, usersQuestion } from "../days.ts";
import { dayOrNull, instant, instantOrNull } from "../rows.ts";
import { isRiskOfSubscription, type Run, scoreContext } from "../score-context.ts";
import { knownUser } from "../users.ts";
import { revenueOf } from "./currency.ts";

type Subscriptions = RouteAnswer<"GET /api/accounts/:accountId/subscriptions">;

/** The payers of a list or a page. */
export interface Billing {
  /** Undefined without subscriptions of this kind. */
  readonly payers: PayersQuestion | undefined;
  readonly isOfSubscription: boolean;
  /** The beginning of a list's answer. */
  readonly head: RouteAnswer<"GET /api/accounts">["billing"];
}

/** What accounts pay, or users without an account. @param run the newest of this kind; undefined before the first */
export async function billingOf(
  context: Pick<OrganizationContext, "warehouse" | "ledger" | "organization" | "zone" | "nowMs">,
  kind: EntityKind,
  run: Run | undefined,
): Promise<Billing> {
  const { warehouse, organization, zone, nowMs } = context;
  const isOfSubscription = isRiskOfSubscription(run, kind);
  if (!(await hasPayers(warehouse, organization.id, kind))) {
    return { payers: undefined, isOfSubscription, head: null };
  }
  const { question, head } = await revenueOf(context);
  const { hasSubscriptions: _, ...currency } = head;
  return {
    payers: { ...question, kind, nowMs: nowMs(), transitions: zone.transitions },
    isOfSubscription,
    head: { ...currency, hasExpectedLoss: isOfSubscription },
  };
}

/** The fields of a row; none without subscriptions of the list's kind. */
export function listedBilling(
  row: Partial<BillingOfRow> & { readonly risk: number | null },
  { payers, isOfSubscription }: Billing,
) {
  return payers === undefined ? {} : payerAnswer(row, isOfSubscription);
}

function payerAnswer(
  row: Partial<BillingOfRow> & { readonly risk: number | null },
  isOfSubscription: boolean,
) {
  const { mrr = null, risk } = row;
  const loss = mrr === null || risk === null ? null : risk * mrr;
  return {
    mrr,
    unratedMrr: (row.unratedMrr ?? []).map(([currency, amount]) => ({ currency, mrr: amount })),
    plan: row.plan ?? null,
    subscriptions: row.subscriptions ?? null,
    subscriptionStatus: row.subscriptionStatus ?? null,
    renewsAt: dayOrNull(row.renewsDay ?? null),
    subscriptionEndsAt: instantOrNull(row.subscriptionEndsAtMs),
    ...(isOfSubscription && { expectedLoss: loss }),
  };
}

export const payersHandlers = {
  "GET /api/plans": async ({ warehouse, organization, query, nowMs }) => ({
    plans: await plansInUse(warehouse, { organization: organization.id, ...query, nowMs: nowMs() }),
  }),

  "GET /api/accounts/:accountId/subscriptions": async (context) => {
    const { account } = await knownAccount(context);
    return subscriptionsAnswer(context, "account", account);
  },

  "GET /api/users/:userId/subscriptions": async (context) => {
    const { user } = await knownUser(context);
    return subscriptionsAnswer(context, "user", user.number);
  },
} satisfies Partial<AnalysisHandlers>;

async function subscriptionsAnswer(
  context: ApiContext<"GET /api/accounts/:accountId/subscriptions" | "GET /api/users/:userId/subscriptions">,
  kind: EntityKind,
  entity: number,
): Promise<Subscriptions> {
  const { warehouse, organization, query, nowMs } = context;
  const { run } = await scoreContext(context, kind);
  const billing = await billingOf(context, kind, run);
  if (billing.payers === undefined) {
    return { billing: billing.head, payer: null, total: 0, subscriptions: [], history: [] };
  }
  const question = {
    ...(await usersQuestion(context, today(context))),
    ...{ run: run && rowsOf(organization.id, kind, run), earlier: undefined, payers: billing.payers },
  };
  const [[row], found] = await Promise.all([
    kind === "account"
      ? accountsNumbered(warehouse, question, [entity])
      : usersNumbered(warehouse, question, [entity]),
    subscriptionsOf(warehouse, { organization: organization.id, kind, entity, nowMs: nowMs(), ...query }),
  ]);
  return {
    billing: billing.head,
    payer: row === undefined || row.subscriptions == null ? null : payerAnswer(row, billing.isOfSubscription),
    total: found.total,
    subscriptions: found.subscriptions.map(subscriptionAnswer),
    history: found.history.map(entryAnswer),
  };
}

function subscriptionAnswer({
  subscriptionId,
  now,
  ...more
}: SubscriptionNow): Subscriptions["subscriptions"][number] {
  const { status, mrr, isInvoluntary } = now;
  const isEnded = status === "canceled";
  return {
    ...{ subscriptionId, status, mrr, isInvoluntary, isUnconfirmed: more.isUnconfirmed },
    plan: now.plan ?? null,
    ...currencyOf(now.currency),
    quantity: now.quantity ?? null,
    startedAt: instant(more.startedAtMs),
    currentPeriodEnd: instantOrNull(now.periodEndMs),
    pastDueSince: instantOrNull(more.pastDueSinceMs),
    endsAt: instantOrNull(isEnded ? now.fromMs : now.endsAtMs),
  };
}

function entryAnswer({
  subscriptionId,
  what,
  now,
  before,
}: PayerSubscriptions["history"][number]): Subscriptions["history"][number] {
  return {
    ...{ subscriptionId, what, at: instant(now.fromMs) },
    ...{
      plan: now.plan ?? null,
      planBefore: before?.plan ?? null,
      mrr: now.mrr,
      mrrBefore: before?.mrr ?? 0,
    },
    ...currencyOf(now.currency),
    endsAt: what === "end_scheduled" ? instantOrNull(now.endsAtMs) : null,
    isInvoluntary: what === "ended" && now.isInvoluntary,
  };
}

function currencyOf(code: string | undefined) {
  return { currency: code ?? null, currencyDigits: currencyDigits(code ?? "") };
}
