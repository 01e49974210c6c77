/** What the control group of a rule shows so far, in figures and in words. Pure. */
import {
  type Arms,
  type HoldOutResult,
  holdOutResult,
  sampleRatioProbability,
} from "../../../scoring/statistics/hold-out.ts";
import type { ArmCount, ExperimentPlan } from "./results-store.ts";

/** Entries of an arm: all, those with a known outcome, and those of them that left. */
export interface ArmFigures {
  readonly entries: number;
  readonly mature: number;
  readonly left: number;
}

export interface HoldOutFigures extends HoldOutResult, ExperimentPlan {
  readonly treated: ArmFigures;
  readonly control: ArmFigures;
  /** Controls that were contacted, or about which another rule fired. */
  readonly contaminated: number;
  /** Whether the arms are of other sizes than drawn: then something keeps entries from one of them. */
  readonly isRatioOff: boolean;
  /** Months until the planned entries are there, at the pace so far. Null before there is a pace. */
  readonly monthsLeft: number | null;
  readonly sentence: string;
}

/** Less likely than this is no chance. */
const unlikely = 0.001;
/** After this long nobody waits for a result. */
const longestMonths = 24;
const msPerMonth = 30.44 * 86_400_000;
const none: Omit<ArmCount, "rule" | "experiment" | "arm"> = {
  entries: 0,
  mature: 0,
  left: 0,
  firstMature: 0,
  firstLeft: 0,
  firstOpen: 0,
  contaminated: 0,
};

/** The figures of an experiment.
 * @param counts of its arms @param running for how long the experiment has run, in milliseconds */
export function holdOutFigures(
  counts: readonly ArmCount[],
  plan: ExperimentPlan,
  { share, runningMs }: { readonly share: number; readonly runningMs: number },
): HoldOutFigures {
  const of = (wanted: ArmCount["arm"]) => counts.find(({ arm }) => arm === wanted) ?? none;
  const [treated, control] = [of("treated"), of("control")];
  const first = treated.firstMature + control.firstMature;
  // The planned entries are read once, when all of them are known.
  const isFinal = first >= plan.planned && treated.firstOpen + control.firstOpen === 0;
  const arms: Arms = isFinal
    ? {
        treated: { hits: treated.firstLeft, count: treated.firstMature },
        control: { hits: control.firstLeft, count: control.firstMature },
      }
    : {
        treated: { hits: treated.left, count: treated.mature },
        control: { hits: control.left, count: control.mature },
      };
  const result = holdOutResult(arms, plan.planned, isFinal);
  const entries = treated.entries + control.entries;
  const perMonth = entries / Math.max(runningMs / msPerMonth, 0.25);
  const monthsLeft = entries === 0 ? null : Math.max(0, plan.planned - entries) / perMonth;
  const isRatioOff =
    sampleRatioProbability({ treated: treated.entries, control: control.entries }, share) < unlikely;
  const figures = {
    ...result,
    ...plan,
    treated: armOf(treated),
    control: armOf(control),
    contaminated: control.contaminated,
    isRatioOff,
    monthsLeft,
  };
  return { ...figures, sentence: sentenceOf(figures, arms) };
}

function armOf({ entries, mature, left }: ArmFigures): ArmFigures {
  return { entries, mature, left };
}

/** 30 of 100 left without the rule, 18 of 100 with it: the rule keeps 0 to 23 more of 100. */
function sentenceOf(
  { verdict, kept, isFinal, isRatioOff, monthsLeft }: Omit<HoldOutFigures, "sentence">,
  { treated, control }: Arms,
): string {
  if (isRatioOff) return "The groups are of other sizes than drawn: stop and look before you trust a result.";
  const seen = `${control.hits} of ${control.count} left without the rule, ${treated.hits} of ${treated.count} with it`;
  const [low, high] = [Math.round(100 * kept.low), Math.round(100 * kept.high)];
  if (verdict === "keeps") return `${seen}: the rule keeps ${low} to ${high} more of 100.`;
  if (verdict === "harms") return `${seen}: the rule loses ${-high} to ${-low} more of 100. Stop it.`;
  if (isFinal) return `${seen}: no difference can be seen. This is the final result.`;
  const when = monthsLeft === null ? "" : `; ${monthsText(monthsLeft)}`;
  return control.count + treated.count === 0
    ? `No outcome is known yet${when}.`
    : `${seen}: no difference can be seen yet${when}.`;
}

function monthsText(months: number): string {
  const whole = Math.ceil(months);
  if (whole === 0) return "the final result comes when all outcomes are known";
  if (whole > longestMonths) return "at this pace not within two years";
  return whole === 1 ? "at this pace in about a month" : `at this pace in about ${whole} months`;
}
