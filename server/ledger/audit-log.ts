/** The entries of the audit log that a transaction writes beside its change. */
import { auditLimits } from "../../contract/audit.ts";
import type { Actor, AuditEntry, AuditNote } from "./audit.ts";
import { skipLocked } from "./dialect.ts";
import { AuditTrims, auditTexts } from "./rules/stored-audit.ts";
import { integer, Json, RowOf, returningOne, run, type Work } from "./sql.ts";

const entryId = new RowOf<{ readonly id: number }>({ id: integer() });

export class AuditLog {
  readonly #trims = new AuditTrims();

  /** Adds the entry of a change of an organization. @returns its id. Undefined if the actor's changes are not
   * logged */
  note(organization: number, note: AuditNote, actor: Actor, atMs: number): Work<number | undefined> {
    return this.add({ organization, actor, atMs, ...note });
  }

  *add(entry: AuditEntry): Work<number | undefined> {
    const { organization, actor, atMs, action } = entry;
    if (actor.isLogged === false) return undefined;
    const { summary, detail } = auditTexts(entry, actor);
    const { id } = yield* returningOne(entryId)`
      INSERT INTO audit_log (organization, at_ms, person, person_name, action, summary, detail)
      VALUES (${organization}, ${atMs}, ${actor.person?.id ?? null}, ${actor.person?.name ?? null}, ${action},
        ${summary}, ${new Json(detail)})`;
    if (this.#trims.isDue(organization)) yield* trim(organization);
    return id;
  }

  /** Updates the entry of a change that takes several commits. */
  *update(id: number, note: AuditNote, actor: Actor): Work<void> {
    const { summary, detail } = auditTexts(note, actor);
    yield* run`UPDATE audit_log SET summary = ${summary}, detail = ${new Json(detail)} WHERE id = ${id}`;
  }
}

/** Each node does this at its own thousandth entry. It skips rows that another node is deleting. */
function trim(organization: number) {
  return run`
    DELETE FROM audit_log WHERE id IN (
      SELECT id FROM audit_log WHERE organization = ${organization} AND id <= (
        SELECT id FROM audit_log WHERE organization = ${organization} ORDER BY id DESC
        LIMIT 1 OFFSET ${auditLimits.entriesPerOrganization})
      ${skipLocked})`;
}
