/** MRR, status and history of subscriptions as text. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { useOrganization } from "../../app/session.ts";
import { dayText, nothing, todayIn } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import { Badge } from "../figure/health.tsx";

type Answer = Reads["/api/accounts/:accountId/subscriptions"]["answer"];
/** The fields of a payer. Rows of lists without subscriptions have none of them. */
export type Payer = Partial<NonNullable<Answer["payer"]>>;
export type SubscriptionStatus = NonNullable<Payer["subscriptionStatus"]>;
type Entry = Answer["history"][number];

const statuses: Readonly<Record<SubscriptionStatus, string>> = {
  active: "Active",
  trialing: "Trialing",
  past_due: "Past due",
  paused: "Paused",
  canceling: "Canceling",
  canceled: "Ended",
};

/** The word of a status. */
export function statusWord(status: SubscriptionStatus): string {
  return statuses[status];
}

/** MRR in the reporting currency; in its own currencies where one of them has no rate. */
export function Mrr({
  payer,
  currency,
  isShort = false,
}: {
  payer: Payer;
  currency: string;
  /** Without decimals of large amounts. */
  isShort?: boolean;
}): ReactElement {
  const { mrr = null, unratedMrr = [] } = payer;
  const { exact, short } = moneyIn(currency);
  if (mrr !== null)
    return <span title={isShort ? exact(mrr) : undefined}>{(isShort ? short : exact)(mrr)}</span>;
  if (unratedMrr.length === 0) return <span className="text-soft">{nothing}</span>;
  return (
    <span className="text-soft" title="A currency without a rate: it is in no total. Owners set rates.">
      {unratedMrr.map((one) => moneyIn(one.currency).exact(one.mrr)).join(" + ")}
    </span>
  );
}

/** The status, with the day of a scheduled end. */
export function Status({ payer }: { payer: Payer }): ReactElement {
  const { subscriptionStatus: status = null, subscriptionEndsAt: endsAt = null } = payer;
  const { timezone } = useOrganization();
  if (status === null) return <span className="text-soft">{nothing}</span>;
  const end = endsAt === null ? "" : ` until ${dayText(todayIn(timezone, Date.parse(endsAt)))}`;
  const isUrgent = status === "past_due" || status === "canceling";
  return (
    <span className="whitespace-nowrap">
      {isUrgent ? (
        <Badge tone="warn">{statusWord(status)}</Badge>
      ) : (
        <span className={status === "active" || status === "trialing" ? "" : "text-soft"}>
          {statusWord(status)}
        </span>
      )}
      {end}
    </span>
  );
}

/**
 * An entry of the history in words, without its time.
 * @param isNamed whether it names its plan where that does not change
 * @param dayOf the day of an instant, as text
 */
export function historyText(entry: Entry, isNamed: boolean, dayOf: (instant: string) => string): string {
  const { what, plan, planBefore, mrr, mrrBefore, currency, endsAt, isInvoluntary } = entry;
  const amount = (minorUnits: number) => (currency === null ? nothing : moneyIn(currency).exact(minorUnits));
  const ofPlan = plan === null ? "" : `: ${plan}`;
  const named = isNamed ? ofPlan : "";
  const from = planBefore === null || plan === planBefore ? "" : `${planBefore} to `;
  const changed = plan === planBefore ? named : `: ${from}${plan ?? "no plan"}`;
  // Amounts come first: a long plan is cut off.
  const change = `: MRR ${amount(mrrBefore)} to ${amount(mrr)}${changed.replace(":", ",")}`;
  const begun = `: MRR ${amount(mrr)}${ofPlan.replace(":", ",")}`;
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
      return `Plan changed${changed}`;
    case "paused":
      return `Paused${named}`;
    case "resumed":
      return `Resumed${named}`;
    case "payment_failed":
      return `Payment failed${named}`;
    case "payment_recovered":
      return `Payment succeeded again${named}`;
    case "end_scheduled":
      return `End scheduled${endsAt === null ? "" : ` for ${dayOf(endsAt)}`}${named}`;
    case "end_withdrawn":
      return `Scheduled end withdrawn${named}`;
    case "ended":
      return `${isInvoluntary ? "Ended after failed payments" : "Ended"}${named}`;
  }
}
