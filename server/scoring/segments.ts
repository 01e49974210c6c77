/** Whether the values of one trait deserve BG/BB parameters of their own, and which trait that is. */
import type { BgbbParameters } from "./bgbb.ts";
import { type CountedCell, fitSegment, totalLogLikelihood } from "./bgbb-fit.ts";

/** The cells of the entities with one value of a trait, in two halves by a hash of the entity. */
export interface Segment {
  readonly value: string;
  readonly training: readonly CountedCell[];
  readonly heldOut: readonly CountedCell[];
}

export interface Segmentation {
  readonly trait: string;
  readonly parameters: ReadonlyMap<string, BgbbParameters>;
  /** Log-likelihood of the held-out halves above that of the pooled parameters. */
  readonly heldOutGain: number;
}

/**
 * The trait whose segments, each fitted around the pooled parameters, explain the held-out halves best; null when
 * none explains them better than the pooled parameters do. `pooled` must come from the training halves.
 */
export function bestSegmentation(
  traits: ReadonlyMap<string, readonly Segment[]>,
  pooled: BgbbParameters,
): Segmentation | null {
  let best: Segmentation | null = null;
  for (const [trait, segments] of traits) {
    const parameters = new Map<string, BgbbParameters>();
    let heldOutGain = 0;
    for (const { value, training, heldOut } of segments) {
      const own = fitSegment(training, pooled).parameters;
      parameters.set(value, own);
      heldOutGain += totalLogLikelihood(heldOut, own) - totalLogLikelihood(heldOut, pooled);
    }
    if (heldOutGain > (best?.heldOutGain ?? 0)) best = { trait, parameters, heldOutGain };
  }
  return best;
}
