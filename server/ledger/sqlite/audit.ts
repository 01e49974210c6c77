/** The audit log as it is stored: rows that are only added, and deleted when they are old or too many. */
import type { Database } from "bun:sqlite";
import { type AuditAction, auditLimits } from "../../../contract/audit.ts";
import type { AuditEntry, AuditPage, AuditStore, StoredAuditEntry } from "../audit.ts";
import type { JsonObject } from "../ledger.ts";

interface EntryRow {
  readonly id: number;
  readonly at_ms: number;
  readonly person: number | null;
  readonly person_name: string | null;
  readonly action: AuditAction;
  readonly summary: string;
  readonly detail: string;
}

const keptMs = auditLimits.keptDays * 86_400_000;
/** Looking for what is too many reads the whole index, 1 ms: it is done once in so many entries. */
const entriesBetweenTrims = 1_000;
/** Of details, which names of settings may make long. */
const maxDetailBytes = 16_384;
const maxSummaryCharacters = 1_000;
const tidyEveryMs = 3_600_000;

function prepare(db: Database) {
  return {
    insert: db.prepare(
      `INSERT INTO audit_log (organization, at_ms, person, person_name, action, summary, detail)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
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
  /** By organization, since the last trim. */
  readonly #added = new Map<number, number>();
  #tidiedAtMs = Number.NEGATIVE_INFINITY;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  async add(entry: AuditEntry): Promise<void> {
    this.write(entry);
  }

  /** Adds the entry inside the caller's transaction, if there is one. */
  write({ organization, actor, atMs, action, summary, detail }: AuditEntry): void {
    const whole = JSON.stringify(actor.person === null ? { ...detail, by: actor.by } : detail);
    const text =
      Buffer.byteLength(whole) > maxDetailBytes
        ? JSON.stringify({ by: actor.by, omitted: `larger than ${maxDetailBytes} bytes` })
        : whole;
    this.#statements.insert.run(
      ...[organization, atMs, actor.person?.id ?? null, actor.person?.name ?? null],
      ...[action, summary.slice(0, maxSummaryCharacters).toWellFormed(), text],
    );
    const added = (this.#added.get(organization) ?? entriesBetweenTrims - 1) + 1;
    if (added >= entriesBetweenTrims) this.#statements.trim.run(organization);
    this.#added.set(organization, added % entriesBetweenTrims);
  }

  async list(organization: number, page: AuditPage): Promise<readonly StoredAuditEntry[]> {
    const before = page.before ?? Number.MAX_SAFE_INTEGER;
    return this.#statements.list.all(organization, before, page.limit).map(entryOf);
  }

  /** Deletes what is older than two years; at most once an hour. */
  tidy(nowMs: number): void {
    if (nowMs - this.#tidiedAtMs < tidyEveryMs) return;
    this.#tidiedAtMs = nowMs;
    this.#statements.expire.run(nowMs - keptMs);
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
