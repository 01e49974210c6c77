/** Instants as text. */

/** The time as a date-time in UTC. */
export function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** The time as a date-time in UTC; null without a time. */
export function instantOrNull(ms: number | null | undefined): string | null {
  return ms == null ? null : instant(ms);
}
