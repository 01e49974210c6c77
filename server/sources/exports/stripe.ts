/**
 * Stripe's exports of subscriptions and invoices: objects of its API as JSON, or the dashboard's CSV. Each becomes the billing
 * events that its webhook would have sent. The facts of a subscription:
 *
 *   start_date          subscription_started, with the plan of today: an export does not say which one it was
 *   trial_end           trial_converted, if the subscription was not over by then
 *   canceled_at         cancellation_scheduled, if it ended or will end later
 *   ended_at            subscription_canceled
 *
 * A paid invoice is payment_succeeded. An open one whose collection was tried is payment_failed.
 */
import type { JsonObject } from "../../../contract/json.ts";
import { isEmailAddress, type SourcedItem } from "../../intake/intake.ts";
import { addressId } from "../../ledger/ledger.ts";
import { billingTrack, type CustomerFacts } from "../billing/facts.ts";
import { fieldOf, instantOf, numberOf, textOf } from "../billing/fields.ts";
import { accountIdKeys, userIdKeys } from "../billing/person.ts";
import type { Translated } from "../source.ts";
import {
  converted,
  ended,
  failed,
  isCancellationScheduled,
  isNotStarted,
  paid,
  scheduled,
  started,
} from "../stripe/events.ts";
import { idOf } from "../stripe/plan.ts";
import { emailOf, metadataOf, stripeAnonymousId } from "../stripe/stripe.ts";
import type { ExportContext } from "./export.ts";
import { stripeObjectOf } from "./stripe-csv.ts";

/** Facts with the time in seconds at which each became true. */
interface TimedFacts extends CustomerFacts {
  readonly at: number | undefined;
}

/** Translates an object, or a row of the dashboard's CSV. */
export function translateStripeRow(row: JsonObject, { nowMs }: ExportContext): Translated {
  const read = textOf(row, "object") === undefined ? stripeObjectOf(row) : { object: row };
  if ("invalid" in read) return read;
  const { object } = read;
  const kind = textOf(object, "object");
  if (kind !== "subscription" && kind !== "invoice") {
    return { ignored: `objects of the type ${JSON.stringify(kind ?? null)} are not imported.` };
  }
  const facts = kind === "subscription" ? subscription(object, nowMs / 1_000) : invoice(object);
  if (typeof facts === "string") return { ignored: facts };
  if (facts.some(({ events, at }) => events.length > 0 && at === undefined)) {
    return { invalid: `${kind} has no time: export its times, too.` };
  }
  return itemsOf(object, facts, nowMs);
}

function subscription(object: JsonObject, now: number): readonly TimedFacts[] | string {
  const status = textOf(object, "status");
  if (isNotStarted(status)) return `A subscription is ${status} and not started.`;
  const begin = numberOf(object, "start_date") ?? numberOf(object, "created");
  const trialEnd = numberOf(object, "trial_end");
  const canceledAt = numberOf(object, "canceled_at");
  const endedAt = numberOf(object, "ended_at") ?? (status === "canceled" ? canceledAt : undefined);
  const { events, traits } = started(object, begin ?? now);
  // The state of today is true since the last change that the export names.
  const since = endedAt ?? numberOf(object, "current_period_start") ?? begin;
  const facts: TimedFacts[] = [{ events, at: begin }];
  if (trialEnd !== undefined && trialEnd < (endedAt ?? now))
    facts.push({ ...converted(object, trialEnd), at: trialEnd });
  if (
    canceledAt !== undefined &&
    (endedAt === undefined ? isCancellationScheduled(object) : canceledAt < endedAt)
  ) {
    facts.push({ ...scheduled(object, canceledAt, instantOf(object, "ended_at")), at: canceledAt });
  }
  if (endedAt === undefined) return [...facts, { events: [], ...(traits && { traits }), at: since }];
  return [...facts, { ...ended(object, endedAt), at: endedAt }];
}

function invoice(object: JsonObject): readonly TimedFacts[] | string {
  const status = textOf(object, "status");
  const created = numberOf(object, "created") ?? numberOf(object, "date");
  const finalized = numberOf(object, "status_transitions", "finalized_at") ?? created;
  if (status === "paid" || fieldOf(object, "paid") === true) {
    const facts = paid({ object });
    const at = numberOf(object, "status_transitions", "paid_at") ?? finalized;
    return typeof facts === "string" ? facts : [{ ...facts, at }];
  }
  const isTried = (numberOf(object, "attempt_count") ?? 0) > 0;
  if (isTried && (status === "open" || status === "uncollectible"))
    return [{ ...failed(object), at: finalized }];
  return `An invoice that is ${status ?? "without a status"} is no payment.`;
}

function itemsOf(object: JsonObject, facts: readonly TimedFacts[], nowMs: number): Translated {
  const userId = metadataOf(object, userIdKeys);
  const customerId = idOf(object, "customer");
  if (userId === undefined && customerId === undefined) {
    return { invalid: "customer is missing: export the customer's id." };
  }
  const anonymousId = stripeAnonymousId(customerId);
  const person = { userId, anonymousId };
  const accountId = metadataOf(object, accountIdKeys);
  const account = accountId === undefined ? undefined : { id: accountId };
  const items = facts.flatMap(({ events, traits, at = 0 }): SourcedItem[] => {
    const atMs = Math.min(at * 1_000, nowMs);
    const tracks = events.map((event) =>
      billingTrack(event, { ...person, atMs, messageId: event.id ?? null }, accountId),
    );
    if (traits === undefined) return tracks;
    return [{ type: "identify", ...person, atMs, messageId: null, traits, account }, ...tracks];
  });
  return { items: [...items, ...linkOf(object, { userId, anonymousId }, nowMs)] };
}

/** Links the customer to the user with the e-mail address, now and later. It comes last, because what is held by then becomes the
 * user's. */
function linkOf(
  object: JsonObject,
  { userId, anonymousId }: { readonly userId: string | undefined; readonly anonymousId: string | undefined },
  nowMs: number,
): readonly SourcedItem[] {
  const email = emailOf(object);
  if (userId !== undefined || anonymousId === undefined || email === undefined) return [];
  const address = isEmailAddress(email) ? addressId(email) : undefined;
  if (address === undefined) return [];
  return [{ type: "alias", previousId: anonymousId, userId: address, atMs: nowMs, messageId: null }];
}
