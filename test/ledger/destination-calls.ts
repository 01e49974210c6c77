/** Calls on destinations and deliveries that parts of the contract share. */

import type { MessageType } from "../../contract/destinations/destinations.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { ClaimRoom } from "../../server/sending/deliveries.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** Characters that a store may take for its own: none of them is lost. */
export const hostile = "a\0b\\0c\\d 'e' \"f\" {g} ünïcode 😀";
/** A day in milliseconds. */
export const dayMs = 86_400_000;
/** An attempt that succeeded. */
export const delivered = { status: 200, said: "ok", verdict: { is: "delivered" } } as const;
/** An attempt that failed. @param waitMs until the next one */
export const failed = (waitMs: number) =>
  ({ status: 500, said: hostile, verdict: { is: "retry", waitMs } }) as const;

/** Calls on the ledger that is under test now. */
export function callsOn(subject: LedgerUnderTest) {
  return {
    add: (organization: number, name: string) =>
      subject.ledger.destinations.add(
        organization,
        {
          kind: "webhook",
          name,
          address: "https://example.com/",
          secrets: ["whsec_x"],
          notices: ["source.silent"],
        },
        commandLine,
        subject.nowMs,
      ),
    change: (organization: number, id: number, change: object) =>
      subject.ledger.destinations.change(organization, id, change, commandLine, subject.nowMs + 1),
    send: (
      organization: number,
      destination: number,
      messageId: string,
      atMs = subject.nowMs,
      type: MessageType = "alert.fired",
    ) =>
      subject.ledger.deliveries.add(
        organization,
        destination,
        { messageId, type, body: JSON.stringify({ text: hostile }) },
        atMs,
      ),
    /** The ids of messages that are claimed. */
    claim: async (atMs: number, room: Partial<ClaimRoom> = {}) => {
      const usual = { most: 100, perDestination: 10, failing: 100 };
      const claimed = await subject.ledger.deliveries.claim({ ...usual, ...room }, atMs);
      return claimed.map(({ delivery, destination }) => `${destination.name} ${delivery.messageId}`).sort();
    },
    states: async (organization: number) => {
      const list = await subject.ledger.deliveries.list(organization, { limit: 100 });
      return list.map(({ messageId, state, attempts }) => `${messageId} ${state} ${attempts}`).sort();
    },
    idOf: async (organization: number, messageId: string) => {
      const list = await subject.ledger.deliveries.list(organization, { limit: 100 });
      return list.find((one) => one.messageId === messageId)?.id ?? 0;
    },
  };
}
