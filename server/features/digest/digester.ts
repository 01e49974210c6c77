/** Sends digests: checks every ten seconds whether one is due. */
import { type DigestPeriod, digestPeriods } from "../../../contract/digest/digest.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Logger } from "../../process/log.ts";
import type { DestinationWithCounts } from "../../sending/destinations.ts";
import { type Digest, entitiesOf, hasNews } from "./digest.ts";
import { digestId, digestMessage } from "./digest-message.ts";
import { type DueDigest, dueDigest } from "./digest-times.ts";

export interface DigesterParts {
  readonly ledger: Pick<SharedLedger, "destinations" | "deliveries" | "organizations">;
  readonly read: (organization: Organization, period: DigestPeriod, day: number) => Promise<Digest>;
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export class Digester {
  readonly #parts: DigesterParts;
  /** The day of each digest that was added or has no news, by destination and message id. After a restart
   * they are made again, and the ledger adds no message twice. */
  readonly #done = new Map<string, number>();

  constructor(parts: DigesterParts) {
    this.#parts = parts;
  }

  /** Adds the digests that are due and not added yet. */
  async run(): Promise<void> {
    const { ledger, log } = this.#parts;
    const asking = (await ledger.destinations.asking()).filter(({ notices }) =>
      digestPeriods.some((period) => notices.includes(`digest.${period}`)),
    );
    for (const [id, destinations] of Map.groupBy(asking, ({ organization }) => organization)) {
      const organization = await ledger.organizations.find(id);
      if (organization === undefined) continue;
      // An organization that fails does not stop the digests of the others.
      await this.#sendOf(organization, destinations).catch((error: unknown) => {
        log.warn({ err: error, organization: id }, "the digest is sent at the next look");
      });
    }
  }

  async #sendOf(organization: Organization, destinations: readonly DestinationWithCounts[]): Promise<void> {
    const nowMs = this.#parts.nowMs();
    for (const period of digestPeriods) {
      const due = dueDigest(period, zoneOf(organization.timezone), nowMs);
      if (due === undefined) continue;
      const id = digestId(organization.id, period, due.day);
      const waiting = destinations.filter(
        ({ notices, id: destination }) =>
          notices.includes(`digest.${period}`) && !this.#done.has(`${destination} ${id}`),
      );
      const missing = await this.#missing(organization, waiting, id, due.day);
      if (missing.length > 0) await this.#send(organization, period, due, missing);
      for (const [key, day] of this.#done) if (day < due.day - 8) this.#done.delete(key);
    }
  }

  /** The destinations that have not got the message yet. The ledger knows them after a restart, so no digest
   * is read again. */
  async #missing(
    { id: organization }: Organization,
    waiting: readonly DestinationWithCounts[],
    messageId: string,
    day: number,
  ): Promise<readonly DestinationWithCounts[]> {
    const missing: DestinationWithCounts[] = [];
    for (const destination of waiting) {
      const page = { destination: destination.id, messageId, limit: 1 };
      const [sent] = await this.#parts.ledger.deliveries.list(organization, page);
      if (sent === undefined) missing.push(destination);
      else this.#done.set(`${destination.id} ${messageId}`, day);
    }
    return missing;
  }

  async #send(
    organization: Organization,
    period: DigestPeriod,
    { day, isLate }: DueDigest,
    destinations: readonly DestinationWithCounts[],
  ): Promise<void> {
    const { ledger, read, address, nowMs } = this.#parts;
    const digest = await read(organization, period, day);
    if (digest.scoredDay !== day && !isLate) return;
    const message = digestMessage(digest, { organization, address, nowMs: nowMs() });
    for (const { id } of destinations) {
      if (hasNews(digest)) {
        await ledger.deliveries.add(organization.id, id, message, nowMs(), entitiesOf(digest));
      } else this.#done.set(`${id} ${message.messageId}`, day);
    }
  }
}
