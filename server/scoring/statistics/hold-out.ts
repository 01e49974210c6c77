/** What a control group shows: how many entries it needs, what can be said before they are there, and what
 * then. Shares are of entries that left. */
import { type Hits, newcombeAt, twoSided } from "./difference.ts";
import { type Interval, normalQuantile975 } from "./wilson.ts";

/** The 80th percentile of the standard normal distribution: the power of the plan. */
const normalQuantile80 = 0.8416212335729143;
/** The error of looks before the planned entries are there. With the last reading all looks together err in
 * at most 6 % of experiments. */
const alphaOfLooks = 0.01;

/** What an experiment is planned for. */
export interface Plan {
  /** The share of entries that leave without treatment. */
  readonly base: number;
  /** The part of these that the treatment saves. */
  readonly saved: number;
  /** The share of controls. */
  readonly share: number;
}

/** The entries of both arms that show the effect with 80 % power at a two-sided 5 % (the formula without
 * pooling; Fleiss, Levin and Paik 2003, 4.14, for arms of unequal size). */
export function entriesNeeded({ base, saved, share }: Plan): number {
  const treated = base * (1 - saved);
  const variance = (base * (1 - base)) / share + (treated * (1 - treated)) / (1 - share);
  return Math.round(((normalQuantile975 + normalQuantile80) ** 2 * variance) / (base - treated) ** 2);
}

/**
 * What takes the place of 1.96 in an interval that is looked at after every entry: the asymptotic confidence
 * sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (arXiv 2103.06476), narrowest at the planned
 * number.
 * @param count entries of both arms so far @param planned entries of the plan
 */
export function quantileOfLooks(count: number, planned: number, alpha = alphaOfLooks): number {
  const tuning = (-2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha))) / planned;
  const grown = count * tuning;
  return Math.sqrt(((grown + 1) / grown) * Math.log((grown + 1) / alpha ** 2));
}

/** Two arms: entries whose outcome is known (`count`), and those of them that left (`hits`). */
export interface Arms {
  readonly treated: Hits;
  readonly control: Hits;
}

/** What an experiment shows so far. */
export interface HoldOutResult {
  /** `few`: an arm has fewer than five that left, or five that stayed. `open`: no difference can be seen.
   * `keeps`: fewer of the treated left. `harms`: more of them did. */
  readonly verdict: "few" | "open" | "keeps" | "harms";
  /** How many more of each entry the treatment keeps: the share of controls that left less that of the
   * treated. */
  readonly kept: Interval;
  /** Whether this is the reading at the planned number, which is final. */
  readonly isFinal: boolean;
}

/** Fewer of these in an arm say nothing. */
const fewest = 5;

/** Reads an experiment. @param arms exactly the first `planned` entries for the final reading, else all
 * mature ones @param planned entries of the plan @param isFinal whether this is the reading at that number */
export function holdOutResult(
  { treated, control }: Arms,
  planned: number,
  isFinal = treated.count + control.count >= planned,
): HoldOutResult {
  const count = treated.count + control.count;
  const z = isFinal ? normalQuantile975 : quantileOfLooks(Math.max(1, count), planned);
  const kept = newcombeAt(z, control, treated);
  const hasFew = [treated, control].some(({ hits, count: all }) => hits < fewest || all - hits < fewest);
  if (hasFew) return { verdict: "few", kept, isFinal };
  const verdict = kept.low > 0 ? "keeps" : kept.high < 0 ? "harms" : "open";
  return { verdict, kept, isFinal };
}

/** How likely the counts of the arms are, if the share was drawn as it says (Pearson's χ² with one degree of
 * freedom). Below .001 something keeps entries from one arm. @param counts entries of each arm */
export function sampleRatioProbability(
  { treated, control }: { readonly treated: number; readonly control: number },
  share: number,
): number {
  const all = treated + control;
  if (all === 0) return 1;
  const errors = (control - all * share) / Math.sqrt(all * share * (1 - share));
  return twoSided(errors);
}
