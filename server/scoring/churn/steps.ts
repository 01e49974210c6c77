/**
 * Long computations in steps: a generator that yields where it may be paused. Other work can run between two
 * steps.
 */

/** A computation in steps, and its result. */
export type Steps<Result> = Generator<void, Result, void>;

/** Does all steps at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
