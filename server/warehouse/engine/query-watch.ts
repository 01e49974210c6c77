/**
 * How long to wait for an answer. A query with a time limit answers soon after it. A query without one (a
 * mutation of all events) may be silent for hours, in which the connection may be lost without notice. So the
 * server is asked now and then whether the query still runs.
 */
import { every } from "../../process/time.ts";
import { WarehouseError } from "./warehouse.ts";

/** ClickHouse's code for network errors (NETWORK_ERROR). It does not blame the rows. */
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
  /** Called when the answer is there. */
  end(): void;
}

/**
 * Starts to wait for an answer.
 * @param patienceMs undefined: as long as the query runs
 * @param isRunning asks the server; if it rejects for an hour, the wait ends, because the user may lack the
 * right to ask, or the answer may be lost
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
  const end = every(everyMs, async () => {
    if (looks) return;
    looks = true;
    const runs = await isRunning().catch(() => undefined);
    looks = false;
    unknown = runs === undefined ? unknown + 1 : 0;
    if (runs !== undefined) inVain = runs ? 0 : inVain + 1;
    if (inVain >= looksInVain) abort(lost("a query is over, and its answer never came"));
    if (unknown >= looksUnknown) abort(lost("for an hour it was unknown whether a query still runs"));
  });
  return { signal: waiting.signal, abort, end };
}

function lost(why: string): WarehouseError {
  return new WarehouseError(networkErrorCode, `ClickHouse cannot be used: ${why}`);
}
