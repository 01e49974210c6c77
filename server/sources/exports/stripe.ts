/**
 * Stripe's exports of subscriptions and invoices: objects of its API as JSON, or the dashboard's CSV. Each
 * becomes the billing events that its webhook would have sent. The facts of a subscription:
 *
 *   start_date          subscription_started, with the plan of today: an export does not say which one it was
 *   trial_end           trial_converted, if it was paid from then on; subscription_paused, if it waits for a card
 *   past_due            subscription_changed with this status since the begin of the period
 *   pause_collection    subscription_paused since the begin of the period: an export does not say when it was paused
 *   canceled_at         cancellation_scheduled, if it ended or will end later
 *   ended_at            subscription_canceled, also if all payments failed and it is unpaid
 *
 * A paid invoice is payment_succeeded. An open one whose collection was tried is payment_failed.
 */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { isEmailAddress } from "../../intake/admission/admit-event.ts";
import type { SourcedItem } from "../../intake/admission/sourced.ts";
import { addressId } from "../../ledger/rules/held-events.ts";
import { billingTrack, type CustomerFacts } from "../billing/facts.ts";
import { fieldOf, instantOf, numberOf, secondsOf, textOf } from "../billing/fields.ts";
import { accountIdKeys, userIdKeys } from "../billing/person.ts";
import type { Translated } from "../source.ts";
import {
  converted,
  ended,
  factAt,
  failed,
  givenUp,
  isCancellationScheduled,
  isNotStarted,
  paid,
  paused,
  scheduled,
  started,
  stateOf,
  withoutToday,
} from "../stripe/events.ts";
import { idOf } from "../stripe/plan.ts";
import { periodStartOf } from "../stripe/price.ts";
import { emailOf, isTestMode, metadataOf, stripeAnonymousId, testModeOfStripe } from "../stripe/stripe.ts";
import type { ExportContext } from "./export.ts";
import { stripeObjectOf } from "./stripe-csv.ts";

/** Facts with the time in seconds at which each became true. */
interface TimedFacts extends CustomerFacts {
  readonly at: number | undefined;
}

/** Where an object says times. */
const timesOf = {
  subscription: [["start_date"], ["created"], ["trial_end"], ["canceled_at"], ["ended_at"]],
  invoice: [["created"], ["date"], ["status_transitions", "finalized_at"], ["status_transitions", "paid_at"]],
} as const;

/** Translates an object, or a row of the dashboard's CSV. */
export function translateStripeRow(row: JsonObject, context: ExportContext): Translated {
  const { nowMs } = context;
  const read = objectOf(row);
  if ("invalid" in read) return read;
  const { object } = read;
  if (isTestMode(object)) return { ignored: testModeOfStripe, isTestMode: true };
  const kind = textOf(object, "object");
  if (kind !== "subscription" && kind !== "invoice") {
    return { ignored: `objects of the type ${JSON.stringify(kind ?? null)} are not imported.` };
  }
  const wrongTime = timesOf[kind].find((path) => {
    const sent = numberOf(object, ...path) ?? 0;
    return sent !== 0 && secondsOf(object, ...path) === undefined;
  });
  if (wrongTime !== undefined) {
    return { invalid: `${wrongTime.join(".")} is no time of the years 1980 to 2299: export Unix seconds.` };
  }
  const facts = kind === "subscription" ? subscription(object, nowMs / 1_000) : invoice(object);
  if (typeof facts === "string") return { ignored: facts };
  if (facts.some(({ events, at }) => events.length > 0 && at === undefined)) {
    return { invalid: `${kind} has no time: export its times, too.` };
  }
  return itemsOf(object, facts, context);
}

function objectOf(row: JsonObject) {
  return textOf(row, "object") === undefined ? stripeObjectOf(row) : { object: row };
}

/** The customer of a row. */
export interface StripeCustomer {
  readonly id: string;
  /** Undefined without an e-mail address, or with one that is not valid. */
  readonly email: string | undefined;
  /** Whether metadata names the user. */
  readonly isNamed: boolean;
}

/** The customer of an object, or of a row of the dashboard's CSV; undefined if it names none. */
export function stripeCustomerOf(row: JsonObject): StripeCustomer | undefined {
  const read = objectOf(row);
  if ("invalid" in read) return undefined;
  const id = idOf(read.object, "customer");
  if (id === undefined) return undefined;
  return { id, email: validEmailOf(read.object), isNamed: metadataOf(read.object, userIdKeys) !== undefined };
}

/** Items of a customer without a user id, which are held if the customer matches no user. They are to be
 * checked, not stored. */
export function unmatchedStripeItems(
  { id, email }: StripeCustomer,
  atMs: number,
  messageId: string,
): readonly SourcedItem[] {
  const anonymousId = stripeAnonymousId(id);
  const event = { event: "payment_succeeded", properties: {} };
  const track = billingTrack(event, { userId: undefined, anonymousId, atMs, messageId }, undefined);
  return [track, ...linkOf({ userId: undefined, anonymousId, email }, atMs)];
}

function validEmailOf(object: JsonObject): string | undefined {
  const email = emailOf(object);
  return email !== undefined && isEmailAddress(email) ? email : undefined;
}

function subscription(object: JsonObject, now: number): readonly TimedFacts[] | string {
  const status = textOf(object, "status");
  if (isNotStarted(status)) return `A subscription is ${status} and not started.`;
  const begin = secondsOf(object, "start_date") ?? secondsOf(object, "created");
  const trialEnd = secondsOf(object, "trial_end");
  const canceledAt = secondsOf(object, "canceled_at");
  const endedAt = secondsOf(object, "ended_at") ?? (status === "canceled" ? canceledAt : undefined);
  const { events, traits } = started(object, begin ?? now);
  // The state of today is true since the last change that the export names.
  const since = endedAt ?? periodStartOf(object) ?? begin;
  const facts: TimedFacts[] = [{ events, at: begin }];
  if (trialEnd !== undefined && trialEnd < (endedAt ?? now) && isConverted(object, trialEnd))
    facts.push({ ...converted(object, trialEnd), at: trialEnd });
  const isWaiting = status === "paused";
  const pausedAt = isWaiting ? (trialEnd ?? since) : since;
  const isPaused = isWaiting || (endedAt === undefined && isJsonObject(object.pause_collection));
  if (isPaused && pausedAt !== undefined) {
    const { events: pauses, ...more } = paused(object, pausedAt);
    facts.push({ events: pauses.map((pause) => factAt(pause, object, pausedAt)), ...more, at: pausedAt });
  }
  if (status === "unpaid" && since !== undefined)
    facts.push({ events: [factAt(givenUp(object, since), object, since)], at: since });
  if (
    canceledAt !== undefined &&
    (endedAt === undefined ? isCancellationScheduled(object) : canceledAt < endedAt)
  ) {
    facts.push({
      ...scheduled(object, canceledAt, { endsAt: instantOf(object, "ended_at") }),
      at: canceledAt,
    });
  }
  const past = facts.map((fact) => ({ ...fact, events: withoutToday(fact.events) }));
  if (endedAt !== undefined) return [...past, { ...ended(object, endedAt), at: endedAt }];
  // Invoices of before tell when it was past due earlier, so a status of today is said only where no invoice
  // may tell it.
  const today = status === "past_due" && !isPaused ? stateOf(object, since ?? now).events : [];
  return [...past, { events: today, ...(traits && { traits }), at: since ?? now }];
}

/**
 * Whether a trial that is over was paid for. As with the webhook, a subscription that is past due since its
 * trial stays one. A row has no payments: a later period, or an end for another reason than failed payments,
 * stands for them.
 */
function isConverted(object: JsonObject, trialEnd: number): boolean {
  const status = textOf(object, "status");
  if (status === "active") return true;
  if (status === "paused") return false;
  const isRenewed = (periodStartOf(object) ?? trialEnd) > trialEnd;
  const isChosenEnd =
    status === "canceled" && textOf(object, "cancellation_details", "reason") !== "payment_failed";
  return isRenewed || isChosenEnd;
}

function invoice(object: JsonObject): readonly TimedFacts[] | string {
  const status = textOf(object, "status");
  const created = secondsOf(object, "created") ?? secondsOf(object, "date");
  const finalized = secondsOf(object, "status_transitions", "finalized_at") ?? created;
  if (status === "paid" || fieldOf(object, "paid") === true) {
    const facts = paid({ object });
    const at = secondsOf(object, "status_transitions", "paid_at") ?? finalized;
    return typeof facts === "string" ? facts : [{ ...facts, at }];
  }
  const isTried = (numberOf(object, "attempt_count") ?? 0) > 0;
  if (isTried && (status === "open" || status === "uncollectible"))
    return [{ ...failed(object), at: finalized }];
  return `An invoice that is ${status ?? "without a status"} is no payment.`;
}

function itemsOf(
  object: JsonObject,
  facts: readonly TimedFacts[],
  { nowMs, createdCustomers }: ExportContext,
): Translated {
  const customerId = idOf(object, "customer");
  const created = customerId !== undefined && createdCustomers.has(customerId) ? customerId : undefined;
  const userId = metadataOf(object, userIdKeys) ?? created;
  if (userId === undefined && customerId === undefined) {
    return { invalid: "customer is missing: export the customer's id." };
  }
  const anonymousId = stripeAnonymousId(customerId);
  const person = { userId, anonymousId };
  const accountId = metadataOf(object, accountIdKeys);
  const account = accountId === undefined ? undefined : { id: accountId };
  const email = validEmailOf(object);
  const atMsOf = ({ at = 0 }: TimedFacts) => Math.min(at * 1_000, nowMs);
  // As with the webhook, it links the customer to the user.
  const naming: SourcedItem[] =
    userId === undefined
      ? []
      : [
          {
            type: "identify",
            ...person,
            atMs: Math.min(nowMs, ...facts.map(atMsOf)),
            messageId: null,
            email: created === undefined ? undefined : email,
            traits: {},
            account,
          },
        ];
  const items = facts.flatMap((fact): SourcedItem[] => {
    const { events, traits } = fact;
    const atMs = atMsOf(fact);
    const tracks = events.map((event) =>
      billingTrack(event, { ...person, atMs, messageId: event.id ?? null }, accountId),
    );
    if (traits === undefined) return tracks;
    return [{ type: "identify", ...person, atMs, messageId: null, traits, account }, ...tracks];
  });
  return { items: [...naming, ...items, ...linkOf({ userId, anonymousId, email }, nowMs)] };
}

/** Links the customer to the user with the e-mail address, now and later. It comes last, because what is held
 * by then becomes the user's. */
function linkOf(
  { userId, anonymousId, email }: Readonly<Record<"userId" | "anonymousId" | "email", string | undefined>>,
  nowMs: number,
): readonly SourcedItem[] {
  if (userId !== undefined || anonymousId === undefined || email === undefined) return [];
  const address = addressId(email);
  if (address === undefined) return [];
  return [{ type: "alias", previousId: anonymousId, userId: address, atMs: nowMs, messageId: null }];
}
