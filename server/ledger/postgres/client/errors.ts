/** What PostgreSQL's errors mean. */

/** Whether a row was refused because another one, which may have been committed meanwhile, has what only one may have. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "23505";
}

/** Whether what was to be written is refused however often it is tried: it is no value of its type (class 22), or it is
 * not allowed among what is there (class 23). */
export function isRefusedForGood(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^2[23]/.test(String(error.code));
}
