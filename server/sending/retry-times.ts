/** When a delivery is sent, and what an answer means. It follows Svix and Standard Webhooks. */

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Waiting times before each attempt, the first included: ten attempts in 75 hours. */
export const waitsMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hourMs),
];

/** The outcome of an attempt. `status` is null when no answer came. */
export interface Answer {
  readonly status: number | null;
  /** From the header `Retry-After`: seconds or a date, in milliseconds from now. */
  readonly retryAfterMs: number | null;
  /** Whether `status` is a reply code of SMTP: 5xx is for good there, and 4xx is not. */
  readonly isMail: boolean;
}

export type Verdict =
  | { readonly is: "delivered" }
  /** Sent again after this time. */
  | { readonly is: "retry"; readonly waitMs: number }
  /** Not sent again. `isGone`: the receiver says that the address will never exist again. */
  | { readonly is: "failed"; readonly isGone: boolean };

/**
 * Decides about a delivery by the answer to an attempt. Only 2xx is success. A redirect fails for good: no
 * owner allowed its target. 410 says that the address is gone. All others are sent again: after `Retry-After`
 * if it is longer than our own waiting time, though never longer than the schedule's next step.
 * @param attempts how many there have been, this one included
 * @param random in [0, 1)
 */
export function verdictOf(
  { status, retryAfterMs, isMail }: Answer,
  attempts: number,
  random: number,
): Verdict {
  if (status !== null && status >= 200 && status < 300) return { is: "delivered" };
  if (status === 410 && !isMail) return { is: "failed", isGone: true };
  const isForGood = status !== null && (isMail ? status >= 500 : status >= 300 && status < 400);
  const waitMs = waitsMs[attempts];
  if (isForGood || waitMs === undefined) return { is: "failed", isGone: false };
  const longestMs = waitsMs[attempts + 1] ?? waitMs;
  const wishedMs = Math.max(waitMs, retryAfterMs ?? 0);
  return { is: "retry", waitMs: Math.round(Math.min(wishedMs, longestMs) * (1 + random / 10)) };
}

/** The waiting time in a `Retry-After` header (RFC 9110, 10.2.3), in milliseconds; null when it has none that
 * can be read. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d+$/.test(header)) return Number(header) * secondMs;
  const atMs = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(header)
    ? Date.parse(header)
    : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
