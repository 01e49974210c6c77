/** Organizations: names are unique, and a new timezone asks for a rebuild of the days in the warehouse. */
import { limits } from "../../../../contract/limits.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { Actor } from "../../ports/audit.ts";
import type { RebuildBegun } from "../../ports/health.ts";
import type { Organization, OrganizationChange, Organizations } from "../../ports/organizations.ts";
import type { NewOrganization } from "../../ports/people.ts";
import { noOrganization, organizationChangedNote } from "../../rules/organization-notes.ts";
import { foundedNote } from "../../rules/people-notes.ts";
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { isTaken } from "../client/errors.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";

export class PostgresOrganizations implements Organizations {
  readonly #sql: Sql;
  readonly #audit: PostgresAudit;
  readonly #clock: () => number;

  constructor(sql: Sql, audit: PostgresAudit, clock: () => number) {
    this.#sql = sql;
    this.#audit = audit;
    this.#clock = clock;
  }

  async list(): Promise<readonly Organization[]> {
    const rows = await this.#sql<
      Organization[]
    >`SELECT ${organizationColumns(this.#sql)} FROM organizations WHERE ${isThere(this.#sql)} ORDER BY id`;
    return rows.map(organizationOf);
  }

  async find(id: number): Promise<Organization | undefined> {
    const sql = this.#sql;
    const [row] = await sql<
      Organization[]
    >`SELECT ${organizationColumns(sql)} FROM organizations WHERE id = ${id} AND ${isThere(sql)}`;
    return row === undefined ? undefined : organizationOf(row);
  }

  create(wanted: NewOrganization & { readonly nowMs: number }, by: Actor): Promise<Organization> {
    return inTransaction(this.#sql, async (tx) => {
      const created = await this.insert(tx, wanted);
      await this.#audit.note(tx, created.id, foundedNote(created), by, wanted.nowMs);
      return created;
    });
  }

  /** Creates the organization inside the caller's transaction. @throws Refusal when the name is taken. */
  async insert(tx: Tx, wanted: NewOrganization & { readonly nowMs: number }): Promise<Organization> {
    const { name, timezone, requestsPerSecond = limits.defaultRequestsPerSecond, nowMs } = wanted;
    const [row] = await tx<Organization[]>`
      INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms)
      VALUES (${storable(name)}, ${timezone}, ${requestsPerSecond}, ${nowMs})
      ON CONFLICT (name) DO NOTHING RETURNING ${organizationColumns(tx)}`;
    if (row === undefined) throw nameTaken(name);
    return organizationOf(row);
  }

  async set(id: number, change: OrganizationChange, by: Actor, nowMs: number): Promise<Organization> {
    const set = inTransaction(this.#sql, async (tx) => {
      const [row] = await tx<Organization[]>`
        SELECT ${organizationColumns(tx)} FROM organizations WHERE id = ${id} AND ${isThere(tx)} FOR NO KEY UPDATE`;
      if (row === undefined) throw noOrganization(id);
      const before = organizationOf(row);
      const after = { ...before, ...change };
      const note = organizationChangedNote(before, after);
      if (note === undefined) return before;
      const { name, timezone, requestsPerSecond, itemsPerSecondSet, keepEventsDays } = after;
      await tx`
        UPDATE organizations SET
          rebuild_asked_at_ms = CASE WHEN timezone <> ${timezone}
            THEN greatest(${this.#clock()}, rebuild_asked_at_ms + 1) ELSE rebuild_asked_at_ms END,
          rebuild_pending = rebuild_pending OR timezone <> ${timezone},
          name = ${storable(name)}, timezone = ${timezone}, requests_per_second = ${requestsPerSecond},
          items_per_second = ${itemsPerSecondSet}, keep_events_days = ${keepEventsDays}
        WHERE id = ${id}`;
      await this.#audit.note(tx, id, note, by, nowMs);
      return after;
    });
    return set.catch((error: unknown) => {
      throw isTaken(error) ? nameTaken(change.name ?? "") : error;
    });
  }

  async eventsDropped(id: number, beforeDay: number): Promise<void> {
    await this.#sql`
      UPDATE organizations SET events_from_day = greatest(events_from_day, ${beforeDay}) WHERE id = ${id}`;
  }

  async rebuildsPending(): Promise<readonly number[]> {
    const rows = await this.#sql<{ id: number }[]>`
      SELECT id FROM organizations WHERE rebuild_pending ORDER BY id`;
    return rows.map(({ id }) => id);
  }

  async rebuildBegun(id: number): Promise<RebuildBegun> {
    const nowMs = this.#clock();
    const [begun] = await this.#sql<RebuildBegun[]>`
      UPDATE organizations SET rebuild_pending = true, rebuild_asked_at_ms = CASE
        WHEN rebuild_pending THEN coalesce(rebuild_asked_at_ms, ${nowMs}::bigint)
        ELSE greatest(${nowMs}::bigint, rebuild_asked_at_ms + 1) END
      WHERE id = ${id} AND ${isThere(this.#sql)} RETURNING timezone, rebuild_asked_at_ms AS "askedAtMs"`;
    if (begun === undefined) throw noOrganization(id);
    return begun;
  }

  /** Since when the organization's days are to be computed again; null when they are as they should be. */
  async rebuildingSinceMs(id: number): Promise<number | null> {
    const [pending] = await this.#sql<{ atMs: number | null }[]>`
      SELECT rebuild_asked_at_ms AS "atMs" FROM organizations WHERE id = ${id} AND rebuild_pending`;
    return pending === undefined ? null : (pending.atMs ?? 0);
  }

  async rebuildDone(id: number, askedAtMs: number): Promise<void> {
    await this.#sql`
      UPDATE organizations SET rebuild_pending = false WHERE id = ${id} AND rebuild_asked_at_ms = ${askedAtMs}`;
  }
}

/** The columns of an organization; its name is still as it is stored. */
export function organizationColumns(queries: Queries) {
  return queries`id, name, timezone, requests_per_second AS "requestsPerSecond",
    items_per_second AS "itemsPerSecondSet", keep_events_days AS "keepEventsDays",
    events_from_day AS "eventsFromDay", created_at_ms AS "createdAtMs"`;
}

/** What is being deleted is found by nobody. */
export function isThere(queries: Queries) {
  return queries`deletion_upto_inbox_id IS NULL`;
}

/** An organization as its row has it. */
export function organizationOf(row: Organization): Organization {
  return { ...row, name: restored(row.name) };
}

function nameTaken(name: string): Refusal {
  return new Refusal(`There is already an organization named ${name}: choose another name.`);
}

/**
 * Locks an organization until the commit: whoever else changes its members, invitations, settings, views or sources
 * waits. Rows that only refer to it, such as users and events, are written meanwhile.
 * @returns false when there is none
 */
export async function lockOrganization(tx: Tx, id: number): Promise<boolean> {
  const found = await tx`SELECT FROM organizations WHERE id = ${id} AND ${isThere(tx)} FOR NO KEY UPDATE`;
  return found.count > 0;
}

/** As `lockOrganization`. @throws Refusal when there is none */
export async function lockKnownOrganization(tx: Tx, id: number): Promise<void> {
  if (!(await lockOrganization(tx, id))) throw noOrganization(id);
}
