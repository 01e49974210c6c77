/** MRR and status of subscriptions as text. */
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

const statuses: Readonly<Record<SubscriptionStatus, string>> = {
  active: "Active",
  trialing: "Trialing",
  past_due: "Past due",
  paused: "Paused",
  canceling: "Canceling",
  canceled: "Ended",
  trial_lost: "Trial lost",
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
  const end = endsAt === null ? null : `until ${dayText(todayIn(timezone, Date.parse(endsAt)))}`;
  const isUrgent = status === "past_due" || status === "canceling";
  return (
    <span>
      {isUrgent ? (
        <Badge tone="warn">{statusWord(status)}</Badge>
      ) : (
        <span className={status === "active" || status === "trialing" ? "" : "text-soft"}>
          {statusWord(status)}
        </span>
      )}
      {end !== null && (
        <>
          {" "}
          <span className="whitespace-nowrap">{end}</span>
        </>
      )}
    </span>
  );
}
