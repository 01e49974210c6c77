/** Lists the audit log, and deletes old entries. */
import type { AuditAction } from "../../../contract/audit.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { AuditStore, StoredAuditEntry } from "../audit.ts";
import { skipLocked } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { auditKeptMs } from "../rules/stored-audit.ts";
import {
  type Fragment,
  integer,
  json,
  nullable,
  part,
  RowOf,
  run,
  select,
  text,
  type Work,
  word,
} from "../sql.ts";

interface Entry {
  readonly id: number;
  readonly atMs: number;
  readonly person: number | null;
  readonly personName: string | null;
  readonly action: AuditAction;
  readonly summary: string;
  readonly detail: JsonObject;
}

const entry = new RowOf<Entry>({
  id: integer(),
  atMs: integer(),
  person: nullable(integer()),
  personName: nullable(text()),
  action: word(),
  summary: text(),
  detail: json(),
});

/** The store of audit entries. */
export function auditStore(engine: Engine): AuditStore {
  return {
    add: async (added) => {
      await engine.alone(engine.audit.add(added));
    },
    list: (organization, { limit, before = Number.MAX_SAFE_INTEGER }) =>
      engine.alone(
        findEntries(
          part`WHERE organization = ${organization} AND id < ${before} ORDER BY id DESC LIMIT ${limit}`,
        ),
      ),
  };
}

/** Entries of the log. @param which the end of the statement, from WHERE on */
export function* findEntries(which: Fragment): Work<readonly StoredAuditEntry[]> {
  const rows = yield* select(entry)`FROM audit_log ${which}`;
  return rows.map(({ person, personName, ...row }) => ({
    ...row,
    person: person === null ? null : { id: person, name: personName ?? "" },
  }));
}

/** Deletes entries that are older than two years. */
export function* tidyAudit(nowMs: number): Work<void> {
  yield* run`
    DELETE FROM audit_log WHERE id IN (SELECT id FROM audit_log WHERE at_ms < ${nowMs - auditKeptMs} ${skipLocked})`;
}
