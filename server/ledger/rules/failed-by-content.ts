import { OrganizationGone } from "../transact.ts";

/** SQLite's names of errors, and the classes of PostgreSQL's SQLSTATE: data exception, integrity constraint,
 * program limit. */
const ofContent = /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)|(22|23|54)[0-9A-Z]{3}$)/;

/** Whether a transaction failed because of its values. Then nothing was written, and the transaction may
 * succeed without these values. After another failure, for example a lost connection, it may be unknown
 * whether it was committed. */
export function failedByContent(error: unknown): boolean {
  if (error instanceof OrganizationGone) return true;
  return error instanceof Error && "code" in error && ofContent.test(String(error.code));
}
