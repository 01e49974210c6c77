/** The audit log as it is stored: rows that are only added, and deleted when they are old or too many. */
import type { Database } from "bun:sqlite";
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

interface EntryRow {
  readonly id: number;
  readonly at_ms: number;
  readonly person: number | null;
  readonly person_name: string | null;
  readonly action: AuditAction;
  readonly summary: string;
  readonly detail: string;
}

function prepare(db: Database) {
  return {
    insert: db.prepare<
      { id: number },
      [number, number, number | null, string | null, string, string, string]
    >(
      `INSERT INTO audit_log (organization, at_ms, person, person_name, action, summary, detail)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    ),
    update: db.prepare("UPDATE audit_log SET summary = ?, detail = ? WHERE id = ?"),
    list: db.prepare<EntryRow, [number, number, number]>(
      `SELECT id, at_ms, person, person_name, action, summary, detail FROM audit_log
       WHERE organization = ? AND id < ? ORDER BY id DESC LIMIT ?`,
    ),
    trim: db.prepare(
      `DELETE FROM audit_log WHERE organization = ?1 AND id <= (
         SELECT id FROM audit_log WHERE organization = ?1 ORDER BY id DESC
         LIMIT 1 OFFSET ${auditLimits.entriesPerOrganization})`,
    ),
    expire: db.prepare("DELETE FROM audit_log WHERE at_ms < ?"),
  };
}

export class SqliteAudit implements AuditStore {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #trims = new AuditTrims();
  readonly #hourly = new Hourly();

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  async add(entry: AuditEntry): Promise<void> {
    this.#write(entry);
  }

  /** Adds what was changed of an organization inside the caller's transaction. @returns the entry's id, if it has one */
  note(organization: number, note: AuditNote, actor: Actor, atMs: number): number | undefined {
    return this.#write({ organization, actor, atMs, ...note });
  }

  /** Updates the entry of a change that takes several commits, inside the caller's transaction. */
  update(id: number, note: AuditNote, actor: Actor): void {
    const { summary, detail } = auditTexts(note, actor);
    this.#statements.update.run(summary, detail, id);
  }

  async list(organization: number, page: AuditPage): Promise<readonly StoredAuditEntry[]> {
    const before = page.before ?? Number.MAX_SAFE_INTEGER;
    return this.#statements.list.all(organization, before, page.limit).map(entryOf);
  }

  /** Deletes what is older than two years; at most once an hour. */
  tidy(nowMs: number): void {
    if (this.#hourly.isDue(nowMs)) this.#statements.expire.run(nowMs - auditKeptMs);
  }

  #write(entry: AuditEntry): number | undefined {
    const { organization, actor, atMs, action } = entry;
    if (actor.isLogged === false) return undefined;
    const { summary, detail } = auditTexts(entry, actor);
    const added = this.#statements.insert.get(
      ...([organization, atMs, actor.person?.id ?? null, actor.person?.name ?? null] as const),
      ...([action, summary, detail] as const),
    );
    if (this.#trims.isDue(organization)) this.#statements.trim.run(organization);
    return added?.id;
  }
}

function entryOf(row: EntryRow): StoredAuditEntry {
  const { id, at_ms: atMs, person, person_name: name, action, summary, detail } = row;
  return {
    id,
    atMs,
    person: person === null ? null : { id: person, name: name ?? "" },
    action,
    summary,
    detail: JSON.parse(detail) as JsonObject,
  };
}
