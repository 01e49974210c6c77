/** Adds messages about whole organizations: every ten seconds, for the organizations with a destination that
 * asks for them. */

import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import type { DestinationWithCounts } from "../../sending/destinations.ts";
import { noticesFor, type OrganizationNow } from "./notices.ts";

export interface NotifierParts {
  readonly ledger: Pick<SharedLedger, "destinations" | "deliveries" | "organizations">;
  readonly readNow: (organization: Organization) => Promise<OrganizationNow>;
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Messages of a destination that are read: more than it gets within the 30 days of the log, unless a source
 * is silent every hour. */
const sentMessages = 200;

export class Notifier {
  readonly #parts: NotifierParts;
  /** Ids of the messages that were added, by destination, so that they are not added again in each run. The
   * ledger would add no message twice, too. */
  readonly #added = new Map<number, Set<string>>();

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** Adds the messages that are due and not added yet. */
  async run(): Promise<void> {
    const { ledger } = this.#parts;
    const asking = await ledger.destinations.asking();
    for (const id of this.#added.keys()) {
      if (!asking.some((destination) => destination.id === id)) this.#added.delete(id);
    }
    for (const [id, destinations] of Map.groupBy(asking, ({ organization }) => organization)) {
      // An organization that fails does not stop the messages of the others.
      await this.#notifyOf(id, destinations).catch((error: unknown) => {
        this.#parts.log.warn({ err: error, organization: id }, "messages are added at the next look");
      });
    }
  }

  async #notifyOf(id: number, destinations: readonly DestinationWithCounts[]): Promise<void> {
    const organization = await this.#parts.ledger.organizations.find(id);
    if (organization !== undefined) await this.#notify(organization, destinations);
  }

  async #notify(organization: Organization, destinations: readonly DestinationWithCounts[]): Promise<void> {
    const { ledger, readNow, address, nowMs } = this.#parts;
    const now = await readNow(organization);
    for (const destination of destinations) {
      const { id } = destination;
      const sent = destination.notices.includes("source.silent")
        ? await ledger.deliveries.list(organization.id, { destination: id, limit: sentMessages })
        : [];
      const added = this.#added.get(id) ?? new Set();
      this.#added.set(id, added);
      for (const message of noticesFor(destination, now, sent, address, nowMs())) {
        if (added.has(message.messageId)) continue;
        await ledger.deliveries.add(organization.id, id, message, nowMs());
        added.add(message.messageId);
      }
    }
  }
}
