/** Entries of the history of subscriptions as text. */
import type { Reads } from "../../api/paths.ts";
import { reasonText, sourceText } from "../../text/churn-reasons.ts";
import { nothing } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";

type Entry = Reads["/api/accounts/:accountId/subscriptions"]["answer"]["history"][number];

/**
 * An entry of the history in words, without its time.
 * @param isNamed whether it names its plan where that does not change
 * @param dayOf the day of an instant, as text
 */
export function historyText(entry: Entry, isNamed: boolean, dayOf: (instant: string) => string): string {
  const { what, plan, planBefore, endsAt, isInvoluntary } = entry;
  const amountIn = (currency: string | null, minorUnits: number) =>
    currency === null ? nothing : moneyIn(currency).exact(minorUnits);
  const mrr = amountIn(entry.currency, entry.mrr);
  const mrrBefore = amountIn(entry.currencyBefore ?? entry.currency, entry.mrrBefore);
  const ofPlan = plan === null ? "" : `: ${plan}`;
  const named = isNamed ? ofPlan : "";
  const from = planBefore === null || plan === planBefore ? "" : `${planBefore} to `;
  const changed = plan === planBefore ? named : `: ${from}${plan ?? "no plan"}`;
  // Amounts come first: a long plan is cut off.
  const change = `: MRR ${mrrBefore} to ${mrr}${changed.replace(":", ",")}`;
  const begun = `: MRR ${mrr}${ofPlan.replace(":", ",")}`;
  const isOtherCurrency = entry.mrr > 0 && entry.mrrBefore > 0 && entry.currency !== entry.currencyBefore;
  switch (what) {
    case "started":
      return `Started${begun}`;
    case "started_again":
      return `Started again${begun}`;
    case "trial_started":
      return `Trial started${ofPlan}`;
    case "trial_converted":
      return `Trial converted${begun}`;
    case "upgraded":
      return `Upgraded${change}`;
    case "downgraded":
      return `Downgraded${change}`;
    case "plan_changed":
      return `Plan changed${isOtherCurrency ? change : changed}`;
    case "paused":
      return `Paused${named}`;
    case "resumed":
      return `Resumed${named}`;
    case "payment_failed":
      return `Payment failed${named}`;
    case "payment_recovered":
      return `Payment succeeded again${named}`;
    case "end_scheduled":
      return `End scheduled${endsAt === null ? "" : ` for ${dayOf(endsAt)}`}${named}${whyText(entry)}`;
    case "end_withdrawn":
      return `Scheduled end withdrawn${named}`;
    case "ended":
      return `${isInvoluntary ? "Ended after failed payments" : "Ended"}${named}${whyText(entry)}`;
  }
}

/** Why a subscription ended, with the source: ". Too expensive: “It costs too much” (from billing)". */
function whyText({ reason, reasonFrom, comment }: Entry): string {
  if (reason === null) return "";
  const said = comment === null ? "" : `: “${comment}”`;
  return `. ${reasonText(reason)}${said} (${sourceText(reasonFrom)})`;
}
