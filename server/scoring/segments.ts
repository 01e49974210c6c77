/** Whether the values of one trait deserve BG/BB parameters of their own, and which trait that is. */
import type { BgbbParameters } from "./bgbb.ts";
import { type CountedCell, fitBgbb, fitSegment, totalLogLikelihood } from "./bgbb-fit.ts";
import type { Steps } from "./steps.ts";

/** The cells of the entities with one value of a trait, in two halves by a hash of the entity. */
export interface Segment {
  readonly value: string;
  readonly training: readonly CountedCell[];
  readonly heldOut: readonly CountedCell[];
}

/** What a segmentation is chosen and fitted from, as of one day. */
export interface SegmentData {
  /** Of everybody in the training half, whatever their traits are. */
  readonly pooledTraining: readonly CountedCell[];
  /** By trait: its frequent values. Who has another one, or none, goes by the pooled parameters. */
  readonly traits: ReadonlyMap<string, readonly Segment[]>;
}

/** BG/BB parameters by the value of one trait. Plain data: it is kept with the model. */
export interface SegmentParameters {
  readonly trait: string;
  readonly values: readonly { readonly value: string; readonly parameters: BgbbParameters }[];
}

export interface Segmentation {
  readonly trait: string;
  readonly parameters: ReadonlyMap<string, BgbbParameters>;
  /** Log-likelihood of the held-out halves above that of the pooled parameters. */
  readonly heldOutGain: number;
}

/**
 * The trait whose segments, each fitted around the pooled parameters, explain the held-out halves best; null when
 * none explains them better than the pooled parameters do. `pooled` must come from the training halves. A step is the
 * fit of one value, up to 70 ms.
 */
export function* bestSegmentation(
  traits: ReadonlyMap<string, readonly Segment[]>,
  pooled: BgbbParameters,
): Steps<Segmentation | null> {
  let best: Segmentation | null = null;
  for (const [trait, segments] of traits) {
    const parameters = new Map<string, BgbbParameters>();
    let heldOutGain = 0;
    for (const { value, training, heldOut } of segments) {
      const own = fitSegment(training, pooled).parameters;
      parameters.set(value, own);
      heldOutGain += totalLogLikelihood(heldOut, own) - totalLogLikelihood(heldOut, pooled);
      yield;
    }
    if (heldOutGain > (best?.heldOutGain ?? 0)) best = { trait, parameters, heldOutGain };
  }
  return best;
}

/**
 * The best trait's segments, fitted to both halves around the pooled parameters of everybody; null when no trait
 * explains the held-out half better than pooled parameters do. In steps of a fit.
 */
export function* fitSegments(
  { pooledTraining, traits }: SegmentData,
  pooled: BgbbParameters,
): Steps<SegmentParameters | null> {
  if (traits.size === 0) return null;
  const pooledOfTraining = fitBgbb(pooledTraining).parameters;
  yield;
  const best = yield* bestSegmentation(traits, pooledOfTraining);
  if (best === null) return null;
  const values: { value: string; parameters: BgbbParameters }[] = [];
  for (const { value, training, heldOut } of traits.get(best.trait) ?? []) {
    values.push({ value, parameters: fitSegment([...training, ...heldOut], pooled).parameters });
    yield;
  }
  return { trait: best.trait, values };
}

/** The place of an entity's segment among the values; −1 when the pooled parameters are its. */
export function segmentIndex(
  { trait, values }: SegmentParameters,
  traits: Readonly<Record<string, string>>,
): number {
  return values.findIndex(({ value }) => value === traits[trait]);
}
