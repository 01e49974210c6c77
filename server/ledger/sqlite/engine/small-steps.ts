/**
 * Housekeeping in small steps. SQLite works on the thread that answers requests, so a step may take a few
 * milliseconds at the most, and requests have their turn after each.
 */

/** What is left after this long waits for the next call, a second later. */
const longestMs = 250;

/** Runs `step` until it says that nothing is left to do, or for a quarter of a second. */
export async function inSmallSteps(step: () => boolean): Promise<void> {
  const end = performance.now() + longestMs;
  while (step() && performance.now() < end) await nextTurn();
}

/** Lets everything that waits on the event loop run once. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
