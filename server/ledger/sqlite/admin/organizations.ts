/** Organizations: names are unique, and a new timezone asks for a rebuild of the days in the warehouse. */
import type { Database } from "bun:sqlite";
import { limits } from "../../../../contract/limits.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { Actor } from "../../ports/audit.ts";
import type { RebuildBegun } from "../../ports/health.ts";
import type { Organization, OrganizationChange, Organizations } from "../../ports/organizations.ts";
import type { NewOrganization } from "../../ports/people.ts";
import { noOrganization, organizationChangedNote } from "../../rules/organization-notes.ts";
import { foundedNote } from "../../rules/people-notes.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";

interface OrganizationRow {
  readonly id: number;
  readonly name: string;
  readonly timezone: string;
  readonly requests_per_second: number;
  readonly items_per_second: number | null;
  readonly keep_events_days: number | null;
  readonly events_from_day: number | null;
  readonly created_at_ms: number;
}

const columns =
  "id, name, timezone, requests_per_second, items_per_second, keep_events_days, events_from_day, created_at_ms";

/** What is being deleted is found by nobody. */
export const isThere = "deletion_upto_inbox_id IS NULL";

function prepare(db: Database) {
  return {
    list: db.prepare<OrganizationRow, []>(
      `SELECT ${columns} FROM organizations WHERE ${isThere} ORDER BY id`,
    ),
    find: db.prepare<OrganizationRow, [number]>(
      `SELECT ${columns} FROM organizations WHERE id = ? AND ${isThere}`,
    ),
    named: db.prepare<OrganizationRow, [string]>(`SELECT ${columns} FROM organizations WHERE name = ?`),
    insert: db.prepare<OrganizationRow, [string, string, number, number]>(
      `INSERT INTO organizations (name, timezone, requests_per_second, created_at_ms) VALUES (?, ?, ?, ?)
       RETURNING ${columns}`,
    ),
    update: db.prepare(
      `UPDATE organizations SET
         rebuild_asked_at_ms = CASE WHEN timezone <> ?2 THEN max(?7, coalesce(rebuild_asked_at_ms, 0) + 1)
           ELSE rebuild_asked_at_ms END,
         rebuild_pending = rebuild_pending OR timezone <> ?2, name = ?1, timezone = ?2, requests_per_second = ?3,
         items_per_second = ?4, keep_events_days = ?5
       WHERE id = ?6`,
    ),
    dropped: db.prepare(
      "UPDATE organizations SET events_from_day = max(coalesce(events_from_day, ?2), ?2) WHERE id = ?1",
    ),
    pending: db.prepare<{ id: number }, []>(
      "SELECT id FROM organizations WHERE rebuild_pending = 1 ORDER BY id",
    ),
    begun: db.prepare<RebuildBegun, [number, number]>(
      `UPDATE organizations SET rebuild_pending = 1, rebuild_asked_at_ms = CASE
         WHEN rebuild_pending = 1 THEN coalesce(rebuild_asked_at_ms, ?1)
         ELSE max(?1, coalesce(rebuild_asked_at_ms, 0) + 1) END
       WHERE id = ?2 AND ${isThere} RETURNING timezone, rebuild_asked_at_ms AS askedAtMs`,
    ),
    pendingSince: db.prepare<{ atMs: number | null }, [number]>(
      "SELECT rebuild_asked_at_ms AS atMs FROM organizations WHERE id = ? AND rebuild_pending = 1",
    ),
    rebuilt: db.prepare(
      "UPDATE organizations SET rebuild_pending = 0 WHERE id = ? AND rebuild_asked_at_ms = ?",
    ),
  };
}

export class SqliteOrganizations implements Organizations {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #audit: SqliteAudit;
  readonly #clock: () => number;
  /** Asked for every organization of a transaction. One whose creation failed may be among them, and has no token. */
  readonly #there: Set<number>;

  constructor(db: Database, audit: SqliteAudit, clock: () => number) {
    this.#db = db;
    this.#audit = audit;
    this.#clock = clock;
    this.#statements = prepare(db);
    this.#there = new Set(this.#statements.list.all().map(({ id }) => id));
  }

  async list(): Promise<readonly Organization[]> {
    return this.#statements.list.all().map(organization);
  }

  async find(id: number): Promise<Organization | undefined> {
    return this.findNow(id);
  }

  /** The organization with this id, if there is one: for callers inside a transaction, which must not yield. */
  findNow(id: number): Organization | undefined {
    const row = this.#statements.find.get(id);
    return row === null ? undefined : organization(row);
  }

  /** @throws Refusal when there is none with this id: for callers inside a transaction. */
  refuseUnknown(id: number): void {
    if (this.findNow(id) === undefined) throw noOrganization(id);
  }

  /** Whether there is such an organization. */
  has(id: number): boolean {
    return this.#there.has(id);
  }

  /** To be called when the deletion of the organization is begun. */
  forget(id: number): void {
    this.#there.delete(id);
  }

  async create(wanted: { name: string; timezone: string; nowMs: number }, by: Actor): Promise<Organization> {
    return inTransaction(this.#db, () => {
      const created = this.insert(wanted);
      this.#audit.note(created.id, foundedNote(created), by, wanted.nowMs);
      return created;
    });
  }

  /** Creates the organization inside the caller's transaction. @throws Refusal when the name is taken. */
  insert({
    name,
    timezone,
    requestsPerSecond = limits.defaultRequestsPerSecond,
    nowMs,
  }: NewOrganization & { readonly nowMs: number }): Organization {
    this.#refuseTaken(name);
    const row = this.#statements.insert.get(name, timezone, requestsPerSecond, nowMs);
    if (row === null) throw new Error("SQLite returned no row for a new organization.");
    this.#there.add(row.id);
    return organization(row);
  }

  async set(id: number, change: OrganizationChange, by: Actor, nowMs: number): Promise<Organization> {
    return inTransaction(this.#db, () => {
      const before = this.findNow(id);
      if (before === undefined) throw noOrganization(id);
      const after = { ...before, ...change };
      const note = organizationChangedNote(before, after);
      if (note === undefined) return before;
      if (after.name !== before.name) this.#refuseTaken(after.name);
      const { name, timezone, requestsPerSecond, itemsPerSecondSet, keepEventsDays } = after;
      this.#statements.update.run(
        ...[name, timezone, requestsPerSecond, itemsPerSecondSet, keepEventsDays, id, this.#clock()],
      );
      this.#audit.note(id, note, by, nowMs);
      return after;
    });
  }

  async eventsDropped(id: number, beforeDay: number): Promise<void> {
    this.#statements.dropped.run(id, beforeDay);
  }

  async rebuildsPending(): Promise<readonly number[]> {
    return this.#statements.pending.all().map((row) => row.id);
  }

  async rebuildBegun(id: number): Promise<RebuildBegun> {
    const begun = this.#statements.begun.get(this.#clock(), id);
    if (begun === null) throw noOrganization(id);
    return begun;
  }

  /** Since when the organization's days are to be computed again; null when they are as they should be. */
  rebuildingSinceMs(id: number): number | null {
    const pending = this.#statements.pendingSince.get(id);
    return pending === null ? null : (pending.atMs ?? 0);
  }

  async rebuildDone(id: number, askedAtMs: number): Promise<void> {
    this.#statements.rebuilt.run(id, askedAtMs);
  }

  #refuseTaken(name: string): void {
    if (this.#statements.named.get(name) === null) return;
    throw new Refusal(`There is already an organization named ${name}: choose another name.`);
  }
}

function organization(row: OrganizationRow): Organization {
  return {
    id: row.id,
    name: row.name,
    timezone: row.timezone,
    requestsPerSecond: row.requests_per_second,
    itemsPerSecondSet: row.items_per_second,
    keepEventsDays: row.keep_events_days,
    eventsFromDay: row.events_from_day,
    createdAtMs: row.created_at_ms,
  };
}
