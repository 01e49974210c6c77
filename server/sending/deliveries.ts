/** Deliveries: one message to one destination. They are decided in a commit, and sent until they succeed or
 * have failed for good. */

import { counted } from "../../contract/counted.ts";
import type { DeliveryState, MessageType } from "../../contract/destinations/destinations.ts";
import { ApiError } from "../../contract/refusal.ts";
import type { AuditNote } from "../ledger/audit.ts";
import type { RuleEntity } from "../ledger/stores/entity-rows.ts";
import type { Destination } from "./destinations.ts";

export interface Delivery {
  readonly id: number;
  readonly organization: number;
  readonly destination: number;
  /** One id for all attempts: receivers recognize repetitions by it. */
  readonly messageId: string;
  readonly type: MessageType;
  /** The message as JSON: `{type, timestamp, data}`. */
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** 0 of a test before its first attempt: it comes before all others. */
  readonly dueAtMs: number;
  readonly attemptedAtMs: number | null;
  readonly status: number | null;
  readonly said: string | null;
  readonly createdAtMs: number;
}

/** A message without its destination. */
export type OutgoingMessage = Pick<Delivery, "messageId" | "type" | "body">;

/** The types of messages about alerts. */
export type AlertMessageType = Extract<MessageType, `alert.${string}`>;

/** What a message about alerts is about. It is rendered when it is due: until then its body is empty. */
export interface AboutAlerts {
  /** The id of the rule. */
  readonly rule: number;
  /** The ids of the alerts. */
  readonly alerts: readonly number[];
  /** The alerts that fired, with those that the cap leaves out. */
  readonly total: number;
  /** The most alerts that are named. */
  readonly cap: number;
  /** Of a rule's later step: the days after which the alerts are still open. */
  readonly openForDays?: number;
}

/** A delivery that is due and has no body yet, or none any more because of an erasure. */
export interface UnrenderedDelivery
  extends Pick<Delivery, "id" | "organization" | "createdAtMs">,
    Pick<Destination, "kind" | "sendsEmails"> {
  readonly type: AlertMessageType;
  readonly about: AboutAlerts;
}

/** A body that all attempts of a delivery have. */
export interface RenderedDelivery extends Pick<UnrenderedDelivery, "id" | "about"> {
  /** Null: nobody is left whom it may name, and the delivery is canceled. */
  readonly body: string | null;
  /** Whom the body names. */
  readonly entities: readonly RuleEntity[];
}

/** No message waits longer for its next attempt: 24 hours and a tenth for the last one, and 25 hours for the
 * next morning. One that is due later was added or tried while the clock was ahead, and is due now. */
export const longestWaitMs = 27 * 3_600_000;

/** A delivery that this process may send until its claim ends. */
export interface ClaimedDelivery {
  readonly delivery: Delivery;
  readonly destination: Destination;
}

/** How many deliveries a process may claim now. */
export interface ClaimRoom {
  readonly most: number;
  /** Of one destination, those that are claimed already among them. A destination that fails gets one at a
   * time. A test has a place of its own. */
  readonly perDestination: number;
  /** Of all destinations that fail. */
  readonly failing: number;
  /** Only of these destinations. */
  readonly only?: readonly number[] | undefined;
}

/** The outcome of an attempt. */
export interface TriedDelivery {
  /** The delivery's. */
  readonly id: number;
  readonly status: number | null;
  readonly said: string;
  readonly verdict:
    | { readonly is: "delivered" }
    | { readonly is: "retry"; readonly waitMs: number }
    | { readonly is: "failed"; readonly isGone: boolean };
}

export interface DeliveryPage {
  readonly destination?: number | undefined;
  /** The delivery of this message: a destination has one at most. */
  readonly messageId?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly limit: number;
  /** Only older deliveries than this one. */
  readonly before?: number | undefined;
}

/** The entry of held messages that were sent or dropped. */
export function heldSettledNote(
  { id, kind, name }: Destination,
  held: "send" | "drop",
  messages: number,
): AuditNote {
  const what = `${counted(messages, "held message")} of the destination ${name}`;
  return {
    ...(held === "send"
      ? { action: "destination.held_sent", summary: `Sent ${what}` }
      : { action: "destination.held_dropped", summary: `Dropped ${what}` }),
    detail: { id, kind, name, messages },
  };
}

/** The entry of a message that is sent again. It has no text: the message may name a user. */
export function sentAgainNote({ id, type }: Delivery, destination: Destination): AuditNote {
  return {
    action: "delivery.sent_again",
    summary: `Sent a message (${type}) to the destination ${destination.name} again`,
    detail: { delivery: id, destination: destination.id, type },
  };
}

/** The error when held messages cannot be sent. */
export function heldNotSent(destination: Destination["state"]): ApiError {
  return new ApiError(
    "conflict",
    `The destination is ${destination}. Resume it before you send its held messages.`,
  );
}

/** The error when a delivery cannot be sent again. */
export function notSentAgain(delivery: DeliveryState, destination: Destination["state"]): ApiError {
  if (destination !== "active") {
    return new ApiError(
      "conflict",
      `The destination is ${destination}. Resume it before you send a message again.`,
    );
  }
  const why = delivery === "pending" ? "being sent" : delivery;
  return new ApiError(
    "conflict",
    `The message is ${why}. Only messages that failed or were delivered are sent again.`,
  );
}
