/** Notices about MRR that is left out or unconfirmed, and the line about rates. */
import type { ReactElement } from "react";
import { currenciesWithoutRate } from "../../../contract/billing/currencies.ts";
import { useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { Notice } from "../../parts/panel.tsx";
import { Instant } from "../../parts/time.tsx";
import { counted, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import type { Revenue } from "./periods.ts";

/** Payers in currencies without a rate, and subscriptions without news or amount. Nothing is drawn without
 * any. */
export function Notices({ answer }: { answer: Revenue }): ReactElement {
  return (
    <>
      <Unrated answer={answer} />
      <Unconfirmed answer={answer} />
      <Unpriced answer={answer} />
      <PaidByMembers answer={answer} />
      <FreeAfterPaid answer={answer} />
    </>
  );
}

function Unrated({ answer }: { answer: Revenue }): ReactElement | null {
  const { unrated, reportingCurrency } = answer;
  if (unrated.length === 0) return null;
  const missing = currenciesWithoutRate(answer);
  const amounts = unrated
    .filter(({ payers }) => payers > 0)
    .map(({ currency, mrr, payers }) => `${moneyIn(currency).exact(mrr)} of ${counted(payers, "payer")}`);
  return (
    <Notice>
      {amounts.length > 0
        ? `MRR in no other figure: ${amounts.join(", ")}. `
        : "Past MRR of some payers is in no figure. "}
      {missing.join(", ")} {missing.length === 1 ? "has" : "have"} no rate to {reportingCurrency}.{" "}
      <ToRates>Set rates</ToRates>
    </Notice>
  );
}

function Unconfirmed({ answer: { unconfirmed } }: { answer: Revenue }): ReactElement | null {
  if (unconfirmed.length === 0) return null;
  const subscriptions = unconfirmed.reduce((sum, one) => sum + one.subscriptions, 0);
  const amounts = unconfirmed.map(({ currency, mrr }) => moneyIn(currency).exact(mrr));
  return (
    <Notice>
      {counted(subscriptions, "subscription")} with {amounts.join(" and ")} MRR{" "}
      {subscriptions === 1 ? "is" : "are"} unconfirmed: the paid period ended more than 30 days ago, and no
      event came since. {subscriptions === 1 ? "It still counts" : "They still count"}. Check that your
      billing tool sends renewals and ends.
    </Notice>
  );
}

function Unpriced({ answer: { unpriced } }: { answer: Revenue }): ReactElement | null {
  if (unpriced === 0) return null;
  return (
    <Notice>
      {counted(unpriced, "active subscription")} {unpriced === 1 ? "has" : "have"} no known amount, and{" "}
      {unpriced === 1 ? "counts" : "count"} 0. Of a price in tiers the first paid invoice tells the amount.
    </Notice>
  );
}

function PaidByMembers({ answer: { paidByMembers: count } }: { answer: Revenue }): ReactElement | null {
  if (count === 0) return null;
  return (
    <Notice>
      {counted(count, "subscription")} {count === 1 ? "is" : "are"} paid by a user who belongs to an account.
      The MRR is the user's, and not the account's. Send <code>accountId</code> with the next event of the
      subscription to move it.
    </Notice>
  );
}

function FreeAfterPaid({ answer: { freeAfterPaid: count } }: { answer: Revenue }): ReactElement | null {
  if (count === 0) return null;
  return (
    <Notice>
      {counted(count, "active subscription")} had MRR and {count === 1 ? "costs" : "cost"} nothing now. The
      payer churned in MRR, and is no departure for the churn target “subscription”.
    </Notice>
  );
}

const shownRates = 6;

/** The currency of all sums, and the version of the settings that its rates are from. */
export function RatesLine({ answer }: { answer: Revenue }): ReactElement {
  const { reportingCurrency, rates, settingsVersion } = answer;
  const { data: settings } = useRead("/api/settings", { enabled: rates.length > 0 });
  const changedAt = settings?.version === settingsVersion ? settings.changedAt : null;
  const more = rates.length - shownRates;
  return (
    <span className="block text-sm">
      In {reportingCurrency}
      {rates.length > 0 && (
        <>
          , at one set of rates for all dates:{" "}
          {rates
            .slice(0, shownRates)
            .map(({ currency, rate }) => `1 ${currency} = ${numbers.precise(rate)}`)
            .join(", ")}
          {more > 0 && ` and ${more} more`} (version {numbers.count(settingsVersion)} of the settings
          {changedAt !== null && (
            <>
              , <Instant instant={changedAt} />
            </>
          )}
          )
        </>
      )}
      {" · "}
      <ToRates>Currency and rates</ToRates>
    </span>
  );
}

function ToRates({ children }: { children: string }): ReactElement {
  return (
    <PageLink to="/o/$organization/settings/currencies" className="underline">
      {children}
    </PageLink>
  );
}
