/**
 * Housekeeping in small steps. SQLite runs on the thread that answers requests. So a step may take a few
 * milliseconds at most, and requests run after each step.
 */

/** The longest run of a call. The next call, a second later, does the remaining work. */
const longestMs = 250;

/** Runs `step` until it returns false, or for a quarter of a second. */
export async function inSmallSteps(step: () => boolean): Promise<void> {
  const end = performance.now() + longestMs;
  while (step() && performance.now() < end) await nextTurn();
}

/** Resolves after the event loop has run once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
