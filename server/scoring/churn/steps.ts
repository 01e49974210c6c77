/**
 * Long computations in steps: a generator that yields where it may be left for a while. Nothing is lost between two
 * steps, so whoever drives it can do something else there.
 */

/** A computation in steps, and what it comes to. */
export type Steps<Result> = Generator<void, Result, void>;

/** Does all steps at once. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
