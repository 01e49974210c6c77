/** The history of a subscription for readers: one entry or more for each of its changes. */
import type { historyKinds } from "../../contract/billing/payers.ts";
import type { SubscriptionChange } from "./changes.ts";

type Happening = (typeof historyKinds)[number];

type Step = Pick<
  SubscriptionChange,
  "fromMs" | "status" | "plan" | "mrr" | "currency" | "endsAtMs" | "isInvoluntary"
>;

export interface HistoryEntry<Change extends Step = SubscriptionChange> {
  readonly what: Happening;
  /** The change itself, and the one before it; undefined at the start. */
  readonly now: Change;
  readonly before: Change | undefined;
}

/** The entries of a subscription's changes, which come by time. @param before the change before the first of
 * them */
export function historyOf<Change extends Step>(
  changes: readonly Change[],
  before?: Change,
): HistoryEntry<Change>[] {
  return changes.flatMap((now, index) => {
    const earlier = changes[index - 1] ?? before;
    return happeningsOf(now, earlier).map((what) => ({ what, now, before: earlier }));
  });
}

function happeningsOf(now: Step, before: Step | undefined): readonly Happening[] {
  if (before === undefined || before.status === "canceled") {
    // An ended subscription may change without a new start: a later event says its plan, say.
    if (now.status === "canceled") return before === undefined ? ["ended"] : [];
    if (now.status === "trialing") return ["trial_started"];
    return [before === undefined ? "started" : "started_again"];
  }
  if (now.status === "canceled") return ["ended"];
  return [...ofPrice(now, before), ...ofStatus(now, before), ...ofEnd(now, before)];
}

const counts = ({ status }: Step) => status === "active" || status === "past_due";

function ofPrice(now: Step, before: Step): readonly Happening[] {
  const isPaid = counts(now) && counts(before);
  // Amounts of two currencies are not compared. Without an amount 0 counts, and a currency may be unknown.
  const isOtherMoney = now.mrr > 0 && before.mrr > 0 && now.currency !== before.currency;
  if (isPaid && isOtherMoney) return ["plan_changed"];
  if (isPaid && now.mrr !== before.mrr) return [now.mrr > before.mrr ? "upgraded" : "downgraded"];
  return now.plan === before.plan ? [] : ["plan_changed"];
}

function ofStatus({ status }: Step, before: Step): readonly Happening[] {
  if (status === before.status) return [];
  if (status === "paused") return ["paused"];
  if (before.status === "paused") return ["resumed"];
  if (status === "trialing") return ["trial_started"];
  const converted = before.status === "trialing" ? (["trial_converted"] as const) : [];
  if (status === "past_due") return [...converted, "payment_failed"];
  return before.status === "past_due" && status === "active" ? ["payment_recovered"] : converted;
}

function ofEnd({ endsAtMs }: Step, before: Step): readonly Happening[] {
  if (endsAtMs === before.endsAtMs) return [];
  return [endsAtMs === undefined ? "end_withdrawn" : "end_scheduled"];
}
