/** What an answer to POST /batch means for the items that were sent. Pure, but for the clock of a Retry-After that is a date. */
import type { Failure } from "./types.ts";

/** What is wrong; whether that is final is for others to say. */
export type Problem = Omit<Failure, "willRetry">;

/** Decided: the items are stored, but for these. */
export interface Answered {
  readonly refused: readonly (Problem & { readonly index: number })[];
}

/** To be sent again. */
export interface Unanswered {
  readonly failure: Problem;
  /** How long to wait beside the backoff. */
  readonly waitMs: number;
  /** Whether a smaller request may fare better. */
  readonly isTooMuch: boolean;
}

/** When the address or the token is wrong, people have to act; this is how soon we notice that they did. */
const wrongSetupWaitMs = 60_000;
/** Longer is a mistake of whoever asks; setTimeout takes no more than 24 days. */
const maxRetryAfterMs = 3_600_000;

interface Body extends Partial<Problem> {
  readonly success?: boolean;
  readonly rejected?: Answered["refused"];
}

/** What the answer to so many items means. Only one, 201 with `success`, says that anything is stored: a proxy's 200 does
 * not. Throws when an answer of ours is not formed like one. */
export function judge(status: number, text: string, headers: Headers, items: number): Answered | Unanswered {
  const body = parse(text);
  if (status === 201 && body.success) return { refused: (body.rejected ?? []).map((one) => ({ ...one })) };
  const failure: Problem = {
    name: body.name ?? "unexpected_answer",
    message: body.message ?? `status ${status}, not from Rekindle`,
    statusCode: status,
  };
  // The message is the first item's; what it says of the others is that they are not stored either.
  if (failure.name === "validation_error" || (status === 413 && items === 1)) {
    const refused = [ofFirst(failure), ...Array<Problem>(items - 1).fill(failure)];
    return { refused: refused.map((told, index) => ({ index, ...told })) };
  }
  const isBusy = [408, 413, 429].includes(status) || status >= 500;
  const retryAfter = headers.get("Retry-After");
  return {
    failure,
    waitMs: retryAfter ? retryAfterMs(retryAfter) : isBusy ? 0 : wrongSetupWaitMs,
    // A limit on requests is no reason to send more of them.
    isTooMuch: isBusy && (status !== 429 || items > Number(headers.get("RateLimit-Limit"))),
  };
}

/** Of the first item it is known what is wrong with it: it is told as it would be if another had been stored. */
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
