/** The result of a POST /batch for each of its items. Pure, except that a Retry-After with a date needs the
 * clock. */
import type { Failure } from "./types.ts";

/** A failure, before it is known whether it is final. */
export type Problem = Omit<Failure, "willRetry">;

/** Final: all items but these are stored. */
export interface Answered {
  readonly refused: readonly (Problem & { readonly index: number })[];
}

/** Not final: send the items again. */
export interface Unanswered {
  readonly failure: Problem;
  /** Time to wait in addition to the backoff. */
  readonly waitMs: number;
  /** Whether a smaller request may succeed. */
  readonly isTooMuch: boolean;
}

/** A wrong address or token needs a person. The client looks for the correction this often. */
const wrongSetupWaitMs = 60_000;
/** Longer times are a mistake of the server. setTimeout takes no more than 24 days. */
const maxRetryAfterMs = 3_600_000;

interface Body extends Partial<Problem> {
  readonly success?: boolean;
  readonly rejected?: Answered["refused"];
}

/** The verdict on a request with so many items. Only 201 with `success` means that items are stored: a
 * proxy's 200 does not. Throws when an answer of the service is malformed. */
export function judge(status: number, text: string, headers: Headers, items: number): Answered | Unanswered {
  const body = parse(text);
  if (status === 201 && body.success) return { refused: (body.rejected ?? []).map((one) => ({ ...one })) };
  const failure: Problem = {
    name: body.name ?? "unexpected_answer",
    message: body.message ?? `status ${status}, not from Rekindle`,
    statusCode: status,
  };
  // The message is the first item's. The other items are not stored either.
  if (failure.name === "validation_error" || (status === 413 && items === 1)) {
    const refused = [ofFirst(failure), ...Array<Problem>(items - 1).fill(failure)];
    return { refused: refused.map((told, index) => ({ index, ...told })) };
  }
  const isBusy = [408, 413, 429].includes(status) || status >= 500;
  const retryAfter = headers.get("Retry-After");
  return {
    failure,
    waitMs: retryAfter ? retryAfterMs(retryAfter) : isBusy ? 0 : wrongSetupWaitMs,
    // Smaller batches would mean more requests, which the limit counts.
    isTooMuch: isBusy && (status !== 429 || items > Number(headers.get("RateLimit-Limit"))),
  };
}

/** Only the first item's error is known. It is reported as in a batch of which another item was stored. */
function ofFirst(failure: Problem): Problem {
  const message = failure.message.replace("batch.0: ", "");
  return { ...failure, message, ...(/^User /.test(message) && { name: "not_found", statusCode: 404 }) };
}

/** The body of the answer; an empty one when it is no JSON object. */
function parse(text: string): Body {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Seconds, or a date. */
function retryAfterMs(header: string): number {
  const ms = Number(header) * 1_000 || Date.parse(header) - Date.now();
  return Math.min(Math.max(ms || 0, 0), maxRetryAfterMs);
}
