/** Deliveries: one message to one destination. They are decided in a commit, and sent until they succeed or have failed for good. */
import type { DeliveryState, MessageType } from "../../../../contract/actions/destinations.ts";
import type { Destination } from "./destinations.ts";

export interface Delivery {
  readonly id: number;
  readonly organization: number;
  readonly destination: number;
  /** The same for every try: receivers tell repetitions by it. */
  readonly messageId: string;
  readonly type: MessageType;
  /** The message as JSON: `{type, timestamp, data}`. */
  readonly body: string;
  readonly state: DeliveryState;
  readonly tries: number;
  readonly dueAtMs: number;
  readonly triedAtMs: number | null;
  readonly status: number | null;
  readonly said: string | null;
  readonly createdAtMs: number;
}

/** A message before it is known who gets it. */
export type OutgoingMessage = Pick<Delivery, "messageId" | "type" | "body">;

/** A delivery that this process may try until its claim ends. */
export interface ClaimedDelivery {
  readonly delivery: Delivery;
  readonly destination: Destination;
}

/** How a try ended. */
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

export interface DeliveryStore {
  /** The newest first. */
  list(organization: number, page: DeliveryPage): Promise<readonly Delivery[]>;
  /** Adds a message for a destination. Paused destinations hold it; disabled and unconfirmed ones do not get it. A message with the same id that a
   * destination had before is not added again. */
  add(organization: number, destination: number, message: OutgoingMessage, nowMs: number): Promise<void>;
  /** Deliveries that are due, for 60 s: no other process gets them meanwhile.
   * @param perDestination at most so many for one destination, those that are claimed already among them */
  claim(most: number, perDestination: number, nowMs: number): Promise<readonly ClaimedDelivery[]>;
  /** Records a try. A failed one may disable the destination, which cancels nothing: its messages are held. */
  tried(id: number, tried: TriedDelivery, nowMs: number): Promise<void>;
  /** Tries a delivery again, now. @returns false when the organization has no such delivery */
  again(organization: number, id: number, nowMs: number): Promise<boolean>;
  /** Sends or drops what is held for a destination. @returns the number of messages */
  settleHeld(
    organization: number,
    destination: number,
    held: "send" | "drop",
    nowMs: number,
  ): Promise<number>;
}
