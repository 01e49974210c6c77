/** MRR and subscriptions of payers, beside the rows of lists and on the page of one. */
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { lists } from "../analytics/entities/lists.ts";
import { reasonsAt, type SaidReason } from "../analytics/revenue/churn-reasons.ts";
import { hasPayers, type PayersQuestion, payersNow, plansInUse } from "../analytics/revenue/payers-now.ts";
import { renewalDayOf } from "../analytics/revenue/renews-at.ts";
import {
  type PayerSubscriptions,
  type SubscriptionNow,
  subscriptionsOf,
} from "../analytics/revenue/subscriptions-of.ts";
import { dayOrNull } from "../calendar/days.ts";
import { instant, instantOrNull } from "../calendar/instant.ts";
import type { AnalysisHandlers, ApiContext, OrganizationContext } from "../http/api/context.ts";
import { revenueOf } from "../http/api/currency.ts";
import { today, usersQuestion } from "../http/api/days.ts";
import { expectedLossOfPayer } from "../revenue/payer-now.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import { knownAccount } from "./accounts.ts";
import { churnEventsOf } from "./churn-events.ts";
import { objectIn } from "./rows.ts";
import { lossUntilMs, type Run, scoreContext } from "./score-context.ts";
import { knownUser } from "./users.ts";

type Subscriptions = RouteAnswer<"GET /api/accounts/:accountId/subscriptions">;

/** The payers of a list or a page. */
export interface Billing {
  /** Undefined without subscriptions of this kind. */
  readonly payers: PayersQuestion | undefined;
  /** The day of an instant in the organization's timezone. */
  readonly dayOf: (ms: number) => number;
  /** The beginning of a list's answer. */
  readonly head: RouteAnswer<"GET /api/accounts">["billing"];
}

/** The payers of this kind, and the currency of their MRR. @param run the newest of this kind; undefined
 * before the first */
export async function billingOf(
  context: Pick<OrganizationContext, "warehouse" | "ledger" | "organization" | "zone" | "nowMs">,
  kind: EntityKind,
  run: Run | undefined,
): Promise<Billing> {
  const { warehouse, organization, zone, nowMs } = context;
  const dayOf = (ms: number) => zone.dayOf(ms);
  if (!(await hasPayers(warehouse, organization.id, kind))) {
    return { payers: undefined, dayOf, head: null };
  }
  const { question, head } = await revenueOf(context);
  const { hasSubscriptions: _, ...currency } = head;
  const untilMs = lossUntilMs(run, kind, nowMs());
  return {
    payers: { ...question, kind, nowMs: nowMs(), untilMs, transitions: zone.transitions },
    dayOf,
    head: { ...currency, hasExpectedLoss: untilMs !== null },
  };
}

interface BilledRow {
  /** The number of the account or the user. */
  readonly entity: number;
  readonly risk: number | null;
  /** The attribute of an account. */
  readonly renewsAt?: unknown;
}

/** Reads the MRR and subscriptions of a list's rows. @returns the fields of a row; undefined without
 * subscriptions */
export async function listedBilling(
  warehouse: OrganizationContext["warehouse"],
  { payers, dayOf }: Billing,
  entities: readonly number[],
) {
  const found = payers === undefined ? undefined : await payersNow(warehouse, payers, entities);
  return ({ entity, risk, renewsAt }: BilledRow) => {
    if (found === undefined) return undefined;
    const payer = found.get(entity);
    const mrr = payer?.mrr ?? null;
    const ofPeriod = payer?.renewsAtMs == null ? null : dayOf(payer.renewsAtMs);
    return {
      mrr,
      unratedMrr: payer?.unratedMrr.map((one) => ({ ...one })) ?? [],
      plan: payer?.plan ?? null,
      subscriptions: payer?.subscriptions ?? null,
      subscriptionStatus: payer?.status ?? null,
      renewsAt: dayOrNull(renewalDayOf(renewsAt, dayOf) ?? ofPeriod),
      subscriptionEndsAt: instantOrNull(payer?.endsAtMs),
      ...(payers?.untilMs != null && {
        expectedLoss: payer === undefined ? null : expectedLossOfPayer(payer, risk),
      }),
    };
  };
}

export const payersHandlers = {
  "GET /api/plans": async ({ warehouse, organization, query, nowMs }) => ({
    plans: await plansInUse(warehouse, { organization: organization.id, ...query, nowMs: nowMs() }),
  }),

  "GET /api/accounts/:accountId/subscriptions": async (context) => {
    const { entity } = await knownAccount(context);
    return subscriptionsAnswer(context, "account", entity);
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
    run: run && rowsOf(organization.id, kind, run),
    earlier: undefined,
  };
  const own = { ...billing, payers: { ...billing.payers, withExcluded: true } };
  const [fieldsOf, [row], found] = await Promise.all([
    listedBilling(warehouse, own, [entity]),
    lists[kind].rows(warehouse, question, [entity]),
    subscriptionsOf(warehouse, { organization: organization.id, kind, entity, nowMs: nowMs(), ...query }),
  ]);
  const renewsAt = kind === "account" && row !== undefined ? objectIn(row.traits).renewsAt : undefined;
  const payer = fieldsOf({ entity, risk: row?.risk ?? null, renewsAt });
  return {
    billing: billing.head,
    payer: payer === undefined || payer.subscriptions === null ? null : payer,
    total: found.total,
    subscriptions: found.subscriptions.map(subscriptionAnswer),
    history: await historyAnswer(context, { kind, entity }, found.history),
  };
}

/** The history, with the reasons of ends. */
async function historyAnswer(
  context: Pick<OrganizationContext, "warehouse" | "ledger" | "organization">,
  { kind, entity }: { readonly kind: EntityKind; readonly entity: number },
  history: PayerSubscriptions["history"],
): Promise<Subscriptions["history"]> {
  const isEnd = ({ what }: (typeof history)[number]) => what === "ended" || what === "end_scheduled";
  const instants = [...new Set(history.filter(isEnd).map(({ now }) => now.fromMs))];
  const said = await reasonsAt(
    context.warehouse,
    { organization: context.organization.id, churnEvents: await churnEventsOf(context), kind },
    instants.map((atMs) => ({ entity, atMs, sinceMs: 0 })),
  );
  const saidAt = new Map(instants.map((atMs, index) => [atMs, said[index]]));
  return history.map((entry) => entryAnswer(entry, isEnd(entry) ? saidAt.get(entry.now.fromMs) : undefined));
}

function subscriptionAnswer({
  subscriptionId,
  now,
  ...more
}: SubscriptionNow): Subscriptions["subscriptions"][number] {
  const { status, mrr, isInvoluntary } = now;
  return {
    subscriptionId,
    status,
    mrr,
    isInvoluntary,
    isUnconfirmed: more.isUnconfirmed,
    plan: now.plan ?? null,
    ...currencyOf(now.currency),
    quantity: now.quantity ?? null,
    startedAt: instant(more.startedAtMs),
    currentPeriodEnd: instantOrNull(now.periodEndMs),
    pastDueSince: instantOrNull(more.pastDueSinceMs),
    endsAt: instantOrNull(more.endedAtMs ?? now.endsAtMs),
  };
}

function entryAnswer(
  { subscriptionId, what, now, before }: PayerSubscriptions["history"][number],
  said: SaidReason | undefined,
): Subscriptions["history"][number] {
  return {
    subscriptionId,
    what,
    at: instant(now.fromMs),
    plan: now.plan ?? null,
    planBefore: before?.plan ?? null,
    mrr: now.mrr,
    mrrBefore: before?.mrr ?? 0,
    ...currencyOf(now.currency),
    currencyBefore: before?.currency ?? null,
    currencyDigitsBefore: currencyDigits(before?.currency ?? ""),
    endsAt: what === "end_scheduled" ? instantOrNull(now.endsAtMs) : null,
    isInvoluntary: what === "ended" && now.isInvoluntary,
    reason: said?.reason || null,
    reasonFrom: said?.reasonFrom ?? null,
    comment: said?.comment || null,
  };
}

function currencyOf(code: string | undefined) {
  return { currency: code ?? null, currencyDigits: currencyDigits(code ?? "") };
}
