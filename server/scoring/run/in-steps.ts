/** Long computations beside answers on the same thread. */
import type { Steps } from "../churn/steps.ts";

/** Does the steps one after another, and lets between two of them this thread answer whoever has asked something. */
export async function inSteps<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    // A sleep of 0 gives no other the thread.
    await Bun.sleep(1);
  }
}
