import { OrganizationGone } from "../ports/transact.ts";

/** SQLite's names of errors, and the classes of PostgreSQL's SQLSTATE: data exception, integrity constraint, program limit. */
const ofContent = /^(SQLITE_(CONSTRAINT|MISMATCH|TOOBIG)|(22|23|54)[0-9A-Z]{3}$)/;

/** Whether a transaction failed because of the values that it was to write. Then nothing was written, and the same without
 * those values may succeed. After any other failure, a lost connection say, it may be unknown what was written. */
export function failedByContent(error: unknown): boolean {
  if (error instanceof OrganizationGone) return true;
  return error instanceof Error && "code" in error && ofContent.test(String(error.code));
}
