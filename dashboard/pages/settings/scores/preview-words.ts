/** A preview of settings in sentences. */
import type { Changes } from "../../../api/paths.ts";
import { numbers } from "../../../text/format.ts";

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

/** Whether health would have told the churned from the others better. */
export function pastHealthText({ departures, cutoffs, aucBefore, aucAfter }: PastHealth): string {
  if (aucBefore === null || aucAfter === null || departures < leastDepartures) {
    return `Whether it would have predicted better is not known: ${numbers.count(departures)} of ${leastDepartures} departures in past scores.`;
  }
  const difference = aucAfter - aucBefore;
  const verdict = Math.abs(difference) < 0.005 ? "about as well" : difference > 0 ? "better" : "worse";
  return `Health would have predicted churn ${verdict}: AUC ${numbers.thousandths(aucAfter)}, now ${numbers.thousandths(aucBefore)} (${numbers.count(departures)} departures at ${numbers.count(cutoffs)} cut-off dates).`;
}

/** How well churn is predicted by a horizon. */
export function proofText({ horizonDays, auc, logLoss, skill, departures, cutoffs }: Proof): string {
  if (logLoss === null) return `${horizonDays} days: no model is good enough.`;
  if (auc === null || skill === null || departures < leastDepartures) {
    return `${horizonDays} days: ${numbers.count(departures)} of ${leastDepartures} departures, too few to compare.`;
  }
  return `${horizonDays} days: AUC ${numbers.thousandths(auc)}, log loss ${numbers.share(Math.abs(skill))} ${skill < 0 ? "above" : "below"} that of the base rate (${numbers.count(departures)} departures at ${numbers.count(cutoffs)} cut-off dates).`;
}
