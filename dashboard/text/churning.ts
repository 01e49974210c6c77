/** Churn in words, by the target. */
import { counted } from "./format.ts";

interface Churn {
  readonly horizonDays: number;
  readonly churnTarget: { readonly by: string };
  readonly churnMeans: string;
}

/** The outcome that a churn risk is about, behind "likely": "to churn within 28 days: the last subscription ended". */
export function churningText({ horizonDays, churnTarget, churnMeans }: Churn): string {
  return churnTarget.by === "silence"
    ? `to be inactive for the next ${counted(horizonDays, "day")}`
    : `to churn within ${counted(horizonDays, "day")}: ${churnMeans}`;
}
