/** Runs long computations without blocking requests on the same thread. */
import type { Steps } from "../churn/steps.ts";

/** Runs the steps one after another. Between two steps this thread can answer requests. */
export async function inSteps<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    // A sleep of 0 gives no other the thread.
    await Bun.sleep(1);
  }
}
