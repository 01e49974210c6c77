/** The writes and reads that tests of held events and links share. */

import type { Ledger } from "../../server/ledger/ledger.ts";
import {
  type HeldEvent,
  type HeldEventWrites,
  type PersonId,
  type PersonKey,
  userKey,
  visitorKey,
} from "../../server/ledger/rules/held-events.ts";
import { look, needs, writes } from "./writes.ts";

/** Ledgers under test are opened with these, less than in an installation. */
export const maxHeldEventBytes = 6 * 1024 * 1024;
export const maxWaitingLinks = 2_000;
export const dayMs = 86_400_000;
export const nothing: HeldEventWrites = { taken: [], held: [], refused: [], links: [], labels: [] };

export function write(ledger: Ledger, nowMs: number, some: Partial<HeldEventWrites>): Promise<void> {
  return ledger.transact(needs({}), () => writes(nowMs, { heldEvents: { ...nothing, ...some } }));
}

/** Of a visitor. */
export function item(organization: number, id: string, some: Partial<HeldEvent & PersonId> = {}) {
  const held = { receivedAtMs: 2_000, atMs: 1_000, accountId: null, body: "{}" };
  return { ...visitorKey(organization, id), ...held, ...some };
}

export function heldUnder(ledger: Ledger, person: PersonKey): Promise<readonly HeldEvent[]> {
  return look(ledger, { people: [person] }, (stored) => stored.heldEvents(person));
}

/** The items that are held under a visitor's id. */
export function heldIn(ledger: Ledger, organization: number, id: string): Promise<readonly HeldEvent[]> {
  return heldUnder(ledger, visitorKey(organization, id));
}

/** The links of these visitors' ids, as `id → user`. */
export function linksIn(ledger: Ledger, organization: number, ids: readonly string[]): Promise<string[]> {
  const people = ids.map((id) => visitorKey(organization, id));
  return look(ledger, { people }, (stored) =>
    people.flatMap((person) => {
      const link = stored.link(person);
      return link === undefined ? [] : [`${person.id} → ${link.userId} at ${link.atMs}`];
    }),
  );
}

/** The ids that are linked to a user, as `kind id`. */
export function linkedTo(ledger: Ledger, organization: number, userId: string): Promise<string[]> {
  return look(ledger, { people: [userKey(organization, userId)] }, (stored) =>
    stored
      .linksTo(organization, userId)
      .map(({ kind, id }) => `${kind} ${id}`)
      .sort(),
  );
}

/** Of a visitor's id. */
export const link = (organization: number, id: string, userId: string, atMs = 1) => ({
  ...visitorKey(organization, id),
  link: { userId, atMs },
});

/** Warnings as `kind: count`. */
export async function warningsOf(ledger: Ledger, organization: number): Promise<string[]> {
  return (await ledger.warnings.list(organization, 100)).map(({ kind, count }) => `${kind}: ${count}`);
}
