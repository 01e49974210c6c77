/** Churn reasons and who said them, as text. */
import { billingReasons, failedPaymentReason, type ReasonSource } from "../../contract/churn-reasons.ts";

const known: ReadonlySet<string> = new Set([...billingReasons, failedPaymentReason]);

/** too_expensive is "Too expensive". Words of a team or an application stay as they are. */
export function reasonText(reason: string | null): string {
  if (reason === null) return "No reason given";
  if (!known.has(reason)) return reason;
  const words = reason.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const sourceTexts: Readonly<Record<ReasonSource, string>> = {
  team: "by hand",
  billing: "from billing",
  event: "from the event",
};

/** Who said a reason; empty without one. */
export function sourceText(source: ReasonSource | null): string {
  return source === null ? "" : sourceTexts[source];
}
