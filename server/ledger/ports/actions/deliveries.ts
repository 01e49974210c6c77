/** Deliveries: one message to one destination. They are decided in a commit, and sent until they succeed or have failed for good. */
import type { DeliveryState, MessageType } from "../../../../contract/actions/destinations.ts";
import { ApiError } from "../../../../contract/refusal.ts";
import type { Destination } from "./destinations.ts";

export interface Delivery {
  readonly id: number;
  readonly organization: number;
  readonly destination: number;
  /** The same for every attempt: receivers tell repetitions by it. */
  readonly messageId: string;
  readonly type: MessageType;
  /** The message as JSON: `{type, timestamp, data}`. */
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly attemptedAtMs: number | null;
  readonly status: number | null;
  readonly said: string | null;
  readonly createdAtMs: number;
}

/** A message without its destination. */
export type OutgoingMessage = Pick<Delivery, "messageId" | "type" | "body">;

/** A delivery that this process may send until its claim ends. */
export interface ClaimedDelivery {
  readonly delivery: Delivery;
  readonly destination: Destination;
}

/** The outcome of an attempt. */
export interface TriedDelivery {
  readonly status: number | null;
  readonly said: string;
  readonly verdict:
    | { readonly is: "delivered" }
    | { readonly is: "retry"; readonly waitMs: number }
    | { readonly is: "failed"; readonly isGone: boolean };
}

export interface DeliveryPage {
  readonly destination?: number | undefined;
  readonly state?: DeliveryState | undefined;
  readonly limit: number;
  /** Only older deliveries than this one. */
  readonly before?: number | undefined;
}

/** Times are by the caller's clock. With PostgreSQL its own clock takes their place, because nodes compare them. */
export interface DeliveryStore {
  /** The newest first. */
  list(organization: number, page: DeliveryPage): Promise<readonly Delivery[]>;
  /** Adds a message for a destination. Paused destinations hold it; disabled and unconfirmed ones do not get it. A message with the same id that a
   * destination had before is not added again. */
  add(organization: number, destination: number, message: OutgoingMessage, nowMs: number): Promise<void>;
  /** Deliveries that are due, for 60 s: no other process gets them meanwhile.
   * @param perDestination at most so many for one destination, those that are claimed already among them */
  claim(most: number, perDestination: number, nowMs: number): Promise<readonly ClaimedDelivery[]>;
  /** Records an attempt. A failed one may disable the destination, which cancels nothing: its messages are held. A delivery that was held
   * or dropped meanwhile is delivered if the receiver has it. Otherwise its state stays. */
  tried(id: number, tried: TriedDelivery, nowMs: number): Promise<void>;
  /** Sends a delivery again, now.
   * @returns false when the organization has no such delivery
   * @throws ApiError (conflict) when it is held, canceled or under way, or its destination is not active */
  again(organization: number, id: number, nowMs: number): Promise<boolean>;
  /** Sends or drops the held messages of a destination. Those that are sent have all attempts again. @returns the number of messages */
  settleHeld(
    organization: number,
    destination: number,
    held: "send" | "drop",
    nowMs: number,
  ): Promise<number>;
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
