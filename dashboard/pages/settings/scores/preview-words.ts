/** A preview of settings in sentences. */
import type { Changes } from "../../../api/paths.ts";
import { counted, numbers } from "../../../text/format.ts";

/** The answer about a change. */
export type SettingsPreview = Changes["POST /api/settings/preview"]["answer"];

type KindPreview = SettingsPreview["kinds"][number];
type PastHealth = NonNullable<KindPreview["pastHealth"]>;
type Proof = NonNullable<KindPreview["horizons"]>["before"];

const words: Readonly<Record<string, string>> = {
  healthy: "healthy",
  watch: "watch",
  at_risk: "at risk",
  onboarding: "onboarding",
  churned: "churned",
  none: "no score",
};

/** Moves between bands: "12 from watch to healthy, 3 from watch to at risk". */
export function movesText(
  moves: readonly { readonly from: string | null; readonly to: string | null; readonly count: number }[],
): string {
  const band = (name: string | null) => (name === null ? "no risk" : (words[name] ?? name));
  return moves
    .map(({ from, to, count }) => `${numbers.count(count)} from ${band(from)} to ${band(to)}`)
    .join(", ");
}

/** Fewer departures tell nothing. */
const leastDepartures = 30;

/** How many pairs of one that left and one that stayed are ranked right, of 100. */
const pairs = (auc: number) => numbers.count(Math.round(auc * 100));

/** Whether health would have told the churned from the others better. A difference that may be chance is
 * none. */
export function pastHealthText({
  departures,
  aucBefore,
  aucAfter,
  differenceLow,
  differenceHigh,
}: PastHealth): string {
  if (aucBefore === null || aucAfter === null || departures < leastDepartures) {
    return `Whether it would have predicted better is not known: ${numbers.count(departures)} of ${leastDepartures} departures in past scores.`;
  }
  const isBetter = differenceLow !== null && differenceLow > 0;
  const isWorse = differenceHigh !== null && differenceHigh < 0;
  const seen = `of ${numbers.count(departures)} departures`;
  if (!isBetter && !isWorse) return `Health would have predicted churn about as well, ${seen}.`;
  return `Health would have predicted churn ${isBetter ? "better" : "worse"}: it ranks ${pairs(aucAfter)} of 100 pairs right, now ${pairs(aucBefore)} (${seen}).`;
}

/** How well churn is predicted by a horizon. */
export function proofText({ horizonDays, auc, logLoss, departures }: Proof): string {
  if (logLoss === null) return `${horizonDays} days: no model is good enough.`;
  if (auc === null || departures < leastDepartures) {
    return `${horizonDays} days: ${numbers.count(departures)} of ${leastDepartures} departures, too few to compare.`;
  }
  return `${horizonDays} days: ranks ${pairs(auc)} of 100 pairs right (${counted(departures, "departure")}).`;
}

type Definition = NonNullable<KindPreview["definition"]>;

/** Who left in the past year by both definitions. */
export function departuresText({ departuresBefore: before, departuresAfter: after }: Definition): string {
  return before === after
    ? `${counted(after, "departure")} in the past year, as now.`
    : `${counted(after, "departure")} in the past year, now ${numbers.count(before)}.`;
}

const stateNames: Readonly<Record<string, string>> = { no_data: "no data" };

/** Moves between states: "12 from churned to inactive". */
export function stateMovesText(moves: Definition["states"]): string {
  const state = (name: string) => stateNames[name] ?? name;
  return moves
    .map(({ from, to, count }) => `${numbers.count(count)} from ${state(from)} to ${state(to)}`)
    .join(", ");
}
