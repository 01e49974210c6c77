/** Waiting in tests: until something is so, and never for a fixed time, because machines differ in speed. */

/** Longer than a slow machine takes for anything, and shorter than a long test may take. */
const limitMs = 10 * 60_000;

/** After this time it is printed once what is waited for: a test may end sooner than the limit, and would not
 * say it. */
const noteAfterMs = 60_000;

const longestPauseMs = 250;
/** Of each end of what was seen. */
const printedCharacters = 1_000;

interface Waiting {
  /** Milliseconds between two looks, for what is so for a moment only. Without it a tenth of the time waited
   * so far, up to 250 ms. */
  readonly everyMs?: number;
  /** Milliseconds after which the wait fails. */
  readonly limitMs?: number;
}

/**
 * Looks again and again until what it sees is so. An error of a look ends the wait: a look that may fail
 * catches it.
 * @param what is waited for, e.g. "the alert is sent"
 * @param isSo whether what is seen will do. Without it, whether it is true, or anything but null, undefined,
 * 0 and ""
 * @returns what was seen
 * @throws Error after 10 minutes: what was waited for, for how long, and what was seen last
 */
export function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
): Promise<Exclude<Seen, false | null | undefined>>;
export function until<Seen>(
  what: string,
  look: () => Seen | Promise<Seen>,
  isSo: (seen: Seen) => boolean,
  waiting?: Waiting,
): Promise<Seen>;
export async function until(
  what: string,
  look: () => unknown,
  isSo: (seen: unknown) => boolean = Boolean,
  waiting: Waiting = {},
): Promise<unknown> {
  // Tests replace other clocks.
  const beganNs = Bun.nanoseconds();
  let isNoted = false;
  while (true) {
    const seen = await look();
    if (isSo(seen)) return seen;
    const waitedMs = (Bun.nanoseconds() - beganNs) / 1_000_000;
    const report = () => `waited ${Math.round(waitedMs)} ms until ${what}, and saw last: ${printed(seen)}`;
    if (waitedMs > (waiting.limitMs ?? limitMs)) throw new Error(report());
    if (waitedMs > noteAfterMs && !isNoted) console.log(report());
    isNoted ||= waitedMs > noteAfterMs;
    await Bun.sleep(waiting.everyMs ?? Math.min(longestPauseMs, Math.max(1, waitedMs / 10)));
  }
}

/** Looks again and again until it sees what is wanted. @throws Error as `until` does */
export async function becomes(look: () => unknown, wanted: unknown): Promise<void> {
  await until(`it is ${printed(wanted)}`, look, (seen) => Bun.deepEquals(seen, wanted));
}

/** Asks again, every second, while the rate limit refuses. */
export function withinLimit(ask: () => Promise<Response>): Promise<Response> {
  return until("the rate limit lets it through", ask, ({ status }) => status !== 429, { everyMs: 1_000 });
}

/** Lets this process go on for so many turns of its event loop. What has to happen in it at once has happened
 * then, on however slow a machine. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate);
}

/** Of a long text both ends: the output of a server says at its end what is wrong. */
function printed(value: unknown): string {
  const text = typeof value === "string" ? value : Bun.inspect(value, { depth: 6 });
  if (text.length <= 2 * printedCharacters) return text;
  return `${text.slice(0, printedCharacters)} … ${text.slice(-printedCharacters)}`;
}
