/** The columns of subscriptions, the same for users and accounts. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import type { Column } from "../list/table-model.ts";
import { RelativeDay } from "../time.tsx";
import { Mrr, type Payer, Status } from "./words.tsx";

/** The MRR of a list's rows. Null without subscriptions. */
export type Billing = Reads["/api/accounts"]["answer"]["billing"];

/** Columns of a row's subscriptions; none without subscriptions. @param currency the reporting currency;
 * undefined without them */
export function billingColumns(
  currency: string | undefined,
  hasExpectedLoss: boolean,
): readonly Column<Payer>[] {
  if (currency === undefined) return [];
  const loss: Column<Payer> = {
    id: "expectedLoss",
    header: "Expected loss",
    sort: "expectedLoss",
    isNumber: true,
    hint: "Churn risk × MRR; MRR that ends as scheduled counts in full",
    cell: ({ expectedLoss }) =>
      moneyIn(currency).exact(expectedLoss == null ? null : Math.round(expectedLoss)),
  };
  return [
    {
      id: "mrr",
      header: "MRR",
      sort: "mrr",
      isNumber: true,
      csv: ["mrr", "unratedMrr"],
      hint: `Monthly recurring revenue now, in ${currency}`,
      cell: (payer) => <Mrr payer={payer} currency={currency} />,
    },
    ...(hasExpectedLoss ? [loss] : []),
    {
      id: "plan",
      header: "Plan",
      csv: ["plan", "subscriptions"],
      hint: "Of the subscription with the highest MRR",
      cell: (payer) => <Plan payer={payer} />,
    },
    {
      id: "subscriptionStatus",
      header: "Subscription",
      csv: ["subscriptionStatus", "subscriptionEndsAt"],
      hint: "Of all subscriptions together: canceling, past due, active, trialing or paused, the first that holds",
      cell: (payer) => <Status payer={payer} />,
    },
    {
      // Set left: the first sort puts the nearest day first.
      id: "renewsAt",
      header: "Renews",
      sort: "renewsAt",
      hint: "The end of the current period, or the attribute renewsAt of the account",
      cell: ({ renewsAt }) => (
        <span className="whitespace-nowrap">
          {dayText(renewsAt)}
          {renewsAt != null && (
            <span className="ml-2 text-soft">
              <RelativeDay day={renewsAt} />
            </span>
          )}
        </span>
      ),
    },
  ];
}

function Plan({ payer: { plan = null, subscriptions = null } }: { payer: Payer }): ReactElement {
  const others = (subscriptions ?? 0) - (plan === null ? 0 : 1);
  if (plan === null && others <= 0) return <span className="text-soft">{nothing}</span>;
  return (
    <span title={plan ?? undefined}>
      {plan ?? "No name"}
      {others > 0 && plan !== null && <span className="ml-1 text-soft">+ {numbers.count(others)} more</span>}
    </span>
  );
}
