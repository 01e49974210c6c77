/** The verdict: how a user or an account is doing, in one word. Its colours are those of health. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { type HealthBand, HealthLabel } from "./health.tsx";

export type VerdictName = Reads["/api/accounts"]["answer"]["accounts"][number]["verdict"];

/** In the order of the API: the first that holds. */
const looks: Readonly<Record<VerdictName, { readonly word: string; readonly look: HealthBand }>> = {
  churned: { word: "Churned", look: "churned" },
  account_churned: { word: "Account churned", look: "churned" },
  high_risk: { word: "High risk", look: "at_risk" },
  at_risk: { word: "At risk", look: "at_risk" },
  new: { word: "New", look: "onboarding" },
  watch: { word: "Watch", look: "watch" },
  healthy: { word: "Healthy", look: "healthy" },
  no_score: { word: "No score", look: "none" },
};

/** The word of a verdict. */
export function verdictWord(verdict: VerdictName): string {
  return looks[verdict].word;
}

/** Shape and word. A high risk has a frame, by which it is known from "at risk" at a glance. */
export function Verdict({ verdict }: { verdict: VerdictName }): ReactElement {
  const { word, look } = looks[verdict];
  const frame = verdict === "high_risk" ? "font-semibold ring-1 ring-current ring-inset" : undefined;
  return (
    <HealthLabel healthBand={look} className={frame}>
      {word}
    </HealthLabel>
  );
}
