/** Reads with bounds: so many at once, and so long. */
import { ApiFailure, call } from "./client.ts";

/** Browsers open six connections to a server. The live view, a change and the scripts of the next page need
 * one, too. */
const maxAtOnce = 4;
/** A request is cancelled after 60 s. */
const limitMs = 60_000;

let running = 0;
const waiting: (() => void)[] = [];

/** Reads an address. It waits for its turn while four others are read, and fails after 60 seconds without an
 * answer.
 * @throws ApiFailure, or the reason of `signal` when that ends it */
export async function read(address: string, signal: AbortSignal): Promise<unknown> {
  await turn(signal);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), limitMs);
  try {
    return await call("GET", address, { signal: AbortSignal.any([signal, ending.signal]) });
  } catch (error) {
    if (!ending.signal.aborted || signal.aborted) throw error;
    const message = `The server did not answer within ${limitMs / 1_000} seconds.`;
    throw new ApiFailure("unreachable", message, 0);
  } finally {
    clearTimeout(timer);
    leave();
  }
}

/** Resolves when a place is free, which is taken then. @throws the reason of `signal` when it ends the
 * waiting */
async function turn(signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (running >= maxAtOnce) return given(signal);
  running += 1;
}

/** Gives the place to the next that waits, or makes it free. */
function leave(): void {
  const next = waiting.shift();
  if (next === undefined) running -= 1;
  else next();
}

function given(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const go = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    const stop = () => {
      waiting.splice(waiting.indexOf(go), 1);
      reject(signal.reason);
    };
    waiting.push(go);
    signal.addEventListener("abort", stop, { once: true });
  });
}
