/** The verdict: how a user or an account is doing, in one word. Its colours are those of health. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { classes } from "../../text/classes.ts";
import { type HealthColour, HealthShape, healthLook } from "./health.tsx";

export type VerdictName = Reads["/api/accounts"]["answer"]["accounts"][number]["verdict"];

/** In the order of the API: the first that holds. */
const looks: Readonly<Record<VerdictName, { readonly word: string; readonly colour: HealthColour }>> = {
  churned: { word: "Churned", colour: "churned" },
  account_churned: { word: "Account churned", colour: "churned" },
  high_risk: { word: "High risk", colour: "at_risk" },
  at_risk: { word: "At risk", colour: "at_risk" },
  new: { word: "New", colour: "onboarding" },
  watch: { word: "Watch", colour: "watch" },
  healthy: { word: "Healthy", colour: "healthy" },
  no_score: { word: "No score", colour: "none" },
};

/** The word of a verdict. */
export function verdictWord(verdict: VerdictName): string {
  return looks[verdict].word;
}

/** Shape and word. A high risk has a frame, by which it is known from "at risk" at a glance. */
export function Verdict({ of }: { of: VerdictName }): ReactElement {
  const { word, colour } = looks[of];
  const { ink, wash } = healthLook(colour);
  return (
    <span
      className={classes(
        "inline-flex items-center gap-1.5 rounded px-1.5 py-px text-sm whitespace-nowrap",
        ink,
        wash,
        of === "high_risk" && "font-semibold ring-1 ring-current ring-inset",
      )}
    >
      <HealthShape colour={colour} />
      {word}
    </span>
  );
}
