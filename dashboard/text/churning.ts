/** Churn in words, by the target. */
import { counted } from "./format.ts";

interface Churn {
  readonly horizonDays: number;
  readonly churnTarget: { readonly by: string };
  readonly churnMeans: string;
}

/** The outcome that a churn risk is about, behind "likely": "to cancel in the next 28 days". */
export function churningText({ horizonDays, churnTarget, churnMeans }: Churn): string {
  const next = `the next ${counted(horizonDays, "day")}`;
  if (churnTarget.by === "silence") return `to be inactive for ${next}`;
  return churnTarget.by === "subscription" ? `to cancel in ${next}` : `to churn in ${next}: ${churnMeans}`;
}
