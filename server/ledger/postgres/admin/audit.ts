/** The audit log as it is stored: rows that are only added, and deleted when they are old or too many. */
import { type AuditAction, auditLimits } from "../../../../contract/audit.ts";
import type { JsonObject } from "../../../../contract/json.ts";
import type {
  Actor,
  AuditEntry,
  AuditNote,
  AuditPage,
  AuditStore,
  StoredAuditEntry,
} from "../../ports/audit.ts";
import { Hourly } from "../../rules/hourly.ts";
import { AuditTrims, auditKeptMs, auditTexts } from "../../rules/stored-audit.ts";
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";

interface EntryRow {
  readonly id: number;
  readonly atMs: number;
  readonly person: number | null;
  readonly personName: string | null;
  readonly action: AuditAction;
  readonly summary: string;
  readonly detail: string;
}

export class PostgresAudit implements AuditStore {
  readonly #sql: Sql;
  readonly #trims = new AuditTrims();
  readonly #hourly = new Hourly();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async add(entry: AuditEntry): Promise<void> {
    await this.#write(this.#sql, entry);
  }

  /** Adds what was changed of an organization in the caller's transaction. @returns the entry's id, if it has one */
  note(
    tx: Tx,
    organization: number,
    note: AuditNote,
    actor: Actor,
    atMs: number,
  ): Promise<number | undefined> {
    return this.#write(tx, { organization, actor, atMs, ...note });
  }

  /** Updates the entry of a change that takes several commits, in the caller's transaction. */
  async update(tx: Tx, id: number, note: AuditNote, actor: Actor): Promise<void> {
    const { summary, detail } = auditTexts(note, actor);
    await tx`UPDATE audit_log SET summary = ${storable(summary)}, detail = ${detail} WHERE id = ${id}`;
  }

  async list(organization: number, page: AuditPage): Promise<readonly StoredAuditEntry[]> {
    const rows = await this.#sql<EntryRow[]>`
      SELECT id, at_ms AS "atMs", person, person_name AS "personName", action, summary, detail FROM audit_log
      WHERE organization = ${organization} AND id < ${page.before ?? Number.MAX_SAFE_INTEGER}
      ORDER BY id DESC LIMIT ${page.limit}`;
    return rows.map(entryOf);
  }

  /** Deletes what is older than two years; at most once an hour. */
  async tidy(nowMs: number): Promise<void> {
    if (this.#hourly.isDue(nowMs)) {
      await this.#sql`DELETE FROM audit_log WHERE id IN (
        SELECT id FROM audit_log WHERE at_ms < ${nowMs - auditKeptMs} FOR UPDATE SKIP LOCKED)`;
    }
  }

  async #write(queries: Queries, entry: AuditEntry): Promise<number | undefined> {
    const { organization, actor, atMs, action } = entry;
    if (actor.isLogged === false) return undefined;
    const { summary, detail } = auditTexts(entry, actor);
    const personName = actor.person === null ? null : storable(actor.person.name);
    const [added] = await queries<{ id: number }[]>`
      INSERT INTO audit_log (organization, at_ms, person, person_name, action, summary, detail)
      VALUES (${organization}, ${atMs}, ${actor.person?.id ?? null}, ${personName}, ${action}, ${storable(summary)},
        ${detail})
      RETURNING id`;
    if (this.#trims.isDue(organization)) await this.#trim(queries, organization);
    return added?.id;
  }

  /** Every node does it at its own thousandth entry; none waits for another that is at it. */
  async #trim(queries: Queries, organization: number): Promise<void> {
    await queries`
      DELETE FROM audit_log WHERE id IN (
        SELECT id FROM audit_log WHERE organization = ${organization} AND id <= (
          SELECT id FROM audit_log WHERE organization = ${organization} ORDER BY id DESC
          LIMIT 1 OFFSET ${auditLimits.entriesPerOrganization})
        FOR UPDATE SKIP LOCKED)`;
  }
}

function entryOf({ person, personName, detail, summary, ...row }: EntryRow): StoredAuditEntry {
  return {
    ...row,
    person: person === null ? null : { id: person, name: restored(personName ?? "") },
    summary: restored(summary),
    detail: JSON.parse(detail) as JsonObject,
  };
}
