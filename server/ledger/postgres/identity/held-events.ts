/** Reads held events, links between ids and names of events outside of a request's transaction, and deletes old ones. */
import { limits } from "../../../../contract/limits.ts";
import { msPerDay } from "../../../calendar/calendar.ts";
import {
  type HeldEventCounts,
  type HeldEventStore,
  heldEventWarning,
  maxPeopleWithHeldEvents,
  noHeldEvents,
  type PersonWithHeldEvents,
} from "../../ports/held-events.ts";
import { personOf } from "../../rules/person-text.ts";
import { addWarnings } from "../../stores/warnings.ts";
import type { Sql, Tx } from "../client/connect.ts";
import { runOn } from "../client/store-engine.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import { byIndex, lockOrganizations } from "../write/organization-locks.ts";
import { dropBefore, dropOldest, forgetEmpty, inOrder } from "./held-event-writes.ts";
import { expireLinks, hasStale } from "./person-links.ts";

/** Items of a step. An identify of the organization may wait for one step: about 10 ms. */
const droppedInAStep = 1_000;

export class PostgresHeldEvents implements HeldEventStore {
  readonly #sql: Sql;
  readonly #maxBytes: number;

  /** @param maxBytes of an organization. Above it the oldest items are dropped */
  constructor(sql: Sql, maxBytes: number) {
    this.#sql = sql;
    this.#maxBytes = maxBytes;
  }

  async counts(organization: number): Promise<HeldEventCounts> {
    const [counts] = await this.#sql<HeldEventCounts[]>`
      SELECT (SELECT count(*) FROM held_event_people AS people WHERE people.organization = totals.organization) AS people,
        items, bytes, links, dropped_full AS "droppedFull", dropped_expired AS "droppedExpired",
        (SELECT min(received_at_ms) FROM held_events AS oldest
         WHERE oldest.organization = totals.organization) AS "oldestAtMs"
      FROM held_event_totals AS totals WHERE organization = ${organization}`;
    return counts ?? noHeldEvents;
  }

  async people(organization: number, limit: number): Promise<readonly PersonWithHeldEvents[]> {
    const found = await this.#sql<(Omit<PersonWithHeldEvents, "kind" | "id"> & { person: string })[]>`
      SELECT most.person, most.items, min(own.received_at_ms) AS "oldestAtMs",
        max(own.received_at_ms) AS "newestAtMs"
      FROM (
        SELECT person, items FROM held_event_people WHERE organization = ${organization}
        ORDER BY items DESC, person LIMIT ${Math.min(limit, maxPeopleWithHeldEvents)}) AS most
      JOIN held_events AS own ON own.organization = ${organization} AND own.person = most.person
      GROUP BY most.person, most.items ORDER BY most.items DESC, most.person`;
    return found.map(({ person, ...held }) => ({ ...personOf(restored(person)), ...held }));
  }

  async labels(organization: number, events: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const found = await this.#sql<{ event: string; label: string }[]>`
      SELECT event, label FROM event_labels
      WHERE organization = ${organization} AND event = ANY (${events.map(storable)}::text[])`;
    return Object.fromEntries(found.map(({ event, label }) => [restored(event), restored(label)]));
  }

  /** Drops events that were held for 30 days, and the oldest ones of an organization with too many. Deletes links to users
   * that were neither identified nor named for 30 days. */
  async tidy(nowMs: number): Promise<void> {
    const expiredMs = nowMs - limits.heldEventDays * msPerDay;
    const sql = this.#sql;
    const organizations = await sql<
      { organization: number; hasExpired: boolean; isFull: boolean; hasStale: boolean }[]
    >`
      SELECT organization, bytes > ${this.#maxBytes} AS "isFull", EXISTS (
        SELECT FROM held_events AS old
        WHERE old.organization = totals.organization AND received_at_ms < ${expiredMs}) AS "hasExpired",
        ${hasStale(sql, sql`totals.organization`, nowMs)} AS "hasStale"
      FROM held_event_totals AS totals WHERE items > 0 OR links > 0`;
    for (const { organization, ...has } of organizations) {
      if (has.hasExpired) {
        await this.#drop(organization, "expired", nowMs, (tx) =>
          dropBefore(tx, organization, expiredMs, droppedInAStep),
        );
      }
      if (has.isFull) {
        await this.#drop(organization, "full", nowMs, (tx) =>
          dropOldest(tx, organization, this.#maxBytes, droppedInAStep),
        );
      }
      if (has.hasStale) await this.#expireLinks(organization, nowMs);
    }
  }

  async #expireLinks(organization: number, nowMs: number): Promise<void> {
    for (let expired = droppedInAStep; expired === droppedInAStep; ) {
      expired = await inTransaction(this.#sql, async (tx) => {
        await Promise.all([byIndex(tx), lockOrganizations(tx, [organization])]);
        return (await expireLinks(tx, organization, nowMs, droppedInAStep)).length;
      });
    }
  }

  async #drop(
    organization: number,
    why: "expired" | "full",
    nowMs: number,
    drop: (tx: Tx) => ReturnType<typeof dropBefore>,
  ): Promise<void> {
    for (let dropped = droppedInAStep; dropped === droppedInAStep; ) {
      dropped = await inTransaction(this.#sql, async (tx) => {
        await lockOrganizations(tx, [organization]);
        const dropping = drop(tx);
        await inOrder([dropping, ...forgetEmpty(tx, [organization])]);
        const [{ items } = { items: 0 }] = await dropping;
        if (items > 0)
          await runOn(tx, addWarnings([heldEventWarning(organization, `held_${why}`, items, nowMs)]));
        return items;
      });
    }
  }
}
