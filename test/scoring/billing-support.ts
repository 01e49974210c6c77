/** Random billing events, as events of a warehouse and as the reference takes them. */
import type { BillingEventName } from "../../contract/billing/events.ts";
import type { Zone } from "../../server/calendar/zone.ts";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { billingProperties } from "../../server/revenue/billing-event.ts";
import { changesOf } from "../../server/revenue/changes.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { billingInstants, isCanceling } from "../../server/scoring/scores/billing.ts";
import type { Random } from "../../simulation/random.ts";
import { utc } from "../revenue/support.ts";
import { keeperOf, load } from "../warehouse/billing-support.ts";
import { event, msPerDay, type WarehouseUnderTest } from "../warehouse/support.ts";
import { type Standing, type SubscriptionLog, standingAt } from "./standing.ts";

/** The bounds of random billing. */
interface BillingOf {
  readonly organization: number;
  readonly zone: Zone;
  readonly firstDay: number;
  readonly days: number;
  readonly users: number;
  readonly accounts: number;
}

const names: readonly BillingEventName[] = [
  "subscription_changed",
  "subscription_changed",
  "subscription_paused",
  "subscription_resumed",
  "subscription_canceled",
  "subscription_canceled",
  "cancellation_scheduled",
  "cancellation_scheduled",
  "cancellation_scheduled",
  "cancellation_withdrawn",
  "subscription_started",
  "trial_started",
  "trial_converted",
  "payment_failed",
  "payment_failed",
  "payment_succeeded",
] as const;

/** Events of subscriptions, of which a payer may have several, and some of which pass to another account. */
export function randomBilling(random: Random, subscriptions: number, of: BillingOf): EventRow[] {
  const { organization, zone, firstDay, days, users, accounts } = of;
  return Array.from({ length: subscriptions }, (_, index) => {
    const [user, account] = [random.between(1, users), random.pick([0, random.between(1, accounts)])];
    const begun = random.between(0, days - 30);
    const at = (name: BillingEventName, day: number): EventRow => {
      const timeMs = zone.startOfDay(firstDay + day) + random.pick([-1, 0, 1, msPerDay / 2]);
      const other = random.chance(0.05) ? random.between(1, accounts) : undefined;
      const later = (most: number) => new Date(timeMs + random.between(0, most) * msPerDay).toISOString();
      const properties = {
        subscriptionId: `sub_${index}`,
        ...(other !== undefined && { accountId: `a${other}` }),
        ...(random.chance(0.6) && {
          amount: random.pick([0, 4_900, 9_900, 120_000]),
          currency: random.pick(["EUR", "USD"]),
          interval: random.pick(["month", "3 months", "year", "12 months", "365 day", "week"]),
        }),
        ...(random.chance(0.5) && { quantity: random.between(1, 5) }),
        ...(random.chance(0.5) && { currentPeriodEnd: later(60) }),
        ...(name === "trial_started" && random.chance(0.8) && { trialEndsAt: later(60) }),
        ...(name === "cancellation_scheduled" && { endsAt: later(150) }),
        ...(name === "subscription_canceled" && random.chance(0.5) && { reason: "payment_failed" }),
      };
      const some = { user, account: other ?? account, event: name, timeMs, day: zone.dayOf(timeMs) };
      return event(organization, { ...some, properties: JSON.stringify(properties), isActivity: false });
    };
    const first = random.pick<BillingEventName>([
      "subscription_started",
      "subscription_started",
      "trial_started",
    ]);
    return [
      at(first, begun),
      ...Array.from({ length: random.pick([0, 1, 2, 4, 8]) }, () =>
        at(random.pick(names), random.between(begun, days)),
      ),
    ];
  }).flat();
}

/** Nine in ten draws have a canceling user. */
const mostDraws = 100;

/** Random billing by which a user is canceling on one of the cut-offs, and was active in the 26 weeks before.
 * In one of 16 random histories of 150 subscriptions there is no such user: then others are drawn.
 * @param events of the users, among them the passive `mail_sent` */
export function billingWithCanceling(
  random: Random,
  of: BillingOf,
  cutoffs: readonly number[],
  events: readonly EventRow[],
): EventRow[] {
  const activity = events.filter(({ event: name }) => name !== "mail_sent");
  const active = cutoffs.map((cutoffDay) => {
    const recent = activity.filter(({ day }) => day < cutoffDay && day >= cutoffDay - 182);
    return { cutoffDay, users: [...new Set(recent.map(({ user }) => user))] };
  });
  for (let draws = 0; draws < mostDraws; draws += 1) {
    const billing = randomBilling(random, 150, of);
    const standingOn = standingsOf(billing, "user", of.zone);
    const hasCanceling = active.some(({ cutoffDay, users }) =>
      users.some((user) => isCanceling(standingOn(user, cutoffDay).billing)),
    );
    if (hasCanceling) return billing;
  }
  throw new Error("nobody is canceling in any draw");
}

/** Loads billing events, and computes their subscriptions. */
export async function loadBilling(subject: WarehouseUnderTest, events: readonly EventRow[]): Promise<void> {
  const keeper = keeperOf(subject);
  const years = Map.groupBy(events, ({ timeMs }) => new Date(timeMs).getUTCFullYear());
  for (const ofYear of years.values()) await load(subject, keeper, ofYear);
  await keeper.updateLoaded();
}

/** The standing of every entity by its number, on any day. */
export function standingsOf(events: readonly EventRow[], kind: EntityKind, zone: Zone) {
  const logs = [...Map.groupBy(events, subscriptionOf).values()].map(logOf);
  return (entity: number, day: number): Standing =>
    standingAt(logs, billingInstants(zone, day), (payer) =>
      kind === "account" ? payer.account === entity : payer.account === 0 && payer.user === entity,
    );
}

function subscriptionOf({ properties }: EventRow): string {
  return String(JSON.parse(properties).subscriptionId);
}

function logOf(events: readonly EventRow[]): SubscriptionLog {
  const changes = changesOf(
    events.map(({ event: name, timeMs, id, user, account, properties }) => {
      const sent = JSON.parse(properties);
      return {
        event: name as BillingEventName,
        atMs: timeMs,
        tieBreak: id,
        user,
        account,
        isAccountNamed: sent.accountId !== undefined,
        properties: billingProperties(sent, utc),
      };
    }),
  );
  const failed = events.filter(({ event: name }) => name === "payment_failed");
  return { changes, failedMs: failed.map(({ timeMs }) => timeMs) };
}
