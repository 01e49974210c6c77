/**
 * How long an answer is waited for. A query with a limit of time has answered soon after it. One without (a mutation of
 * all events) may take hours in silence, in which the connection may have been lost without anybody saying so: so
 * the server is asked now and then whether the query still runs.
 */
import { WarehouseError } from "./warehouse.ts";

/** Network errors have this code of ClickHouse's (NETWORK_ERROR). They say nothing about rows. */
export const networkErrorCode = 210;

const lookMs = 30_000;
/** An answer may be under way while the query is not listed any more. */
const looksInVain = 2;
/** An hour of looks that failed: the server is away, or the user has not the rights to look. */
const looksUnknown = 120;

export interface Waiting {
  readonly signal: AbortSignal;
  /** Ends the waiting with this error. */
  abort(reason: WarehouseError): void;
  /** To be called when it is over. */
  end(): void;
}

/**
 * Begins to wait for an answer.
 * @param patienceMs undefined: for ever, while the query runs
 * @param isRunning asks the server; what it rejects with counts as not knowing, for an hour: a user may lack the right to
 * ask, and the answer may be lost
 */
export function waitFor(
  patienceMs: number | undefined,
  isRunning: () => Promise<boolean>,
  everyMs = lookMs,
): Waiting {
  const waiting = new AbortController();
  const abort = (reason: WarehouseError) => waiting.abort(reason);
  if (patienceMs !== undefined) {
    const timer = setTimeout(
      () => abort(lost(`it did not answer within ${patienceMs / 1_000} s`)),
      patienceMs,
    );
    return { signal: waiting.signal, abort, end: () => clearTimeout(timer) };
  }
  let inVain = 0;
  let unknown = 0;
  let looks = false;
  const timer = setInterval(async () => {
    if (looks) return;
    looks = true;
    const runs = await isRunning().catch(() => undefined);
    looks = false;
    unknown = runs === undefined ? unknown + 1 : 0;
    if (runs !== undefined) inVain = runs ? 0 : inVain + 1;
    if (inVain >= looksInVain) abort(lost("a query is over, and its answer never came"));
    if (unknown >= looksUnknown) abort(lost("for an hour nobody could tell whether a query still runs"));
  }, everyMs);
  return { signal: waiting.signal, abort, end: () => clearInterval(timer) };
}

function lost(why: string): WarehouseError {
  return new WarehouseError(networkErrorCode, `ClickHouse cannot be used: ${why}`);
}
