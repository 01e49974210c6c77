/** The meaning of PostgreSQL's errors. */

/** Whether a row was refused because of a constraint that allows one such row. The other may be a moment old. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

/** Whether a write fails however often it is tried: a value does not fit its type (class 22), or a constraint refuses it
 * (class 23). */
export function isRefusedForGood(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^2[23]/.test(String(error.code));
}
