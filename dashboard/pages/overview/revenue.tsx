/** MRR at risk in one line, linked to the revenue page. Nothing is drawn without subscriptions and churn risks. */
import type { ReactElement } from "react";
import { PageLink } from "../../app/page-link.ts";
import { useMrrAtRisk } from "../../parts/figure/mrr-at-risk.ts";
import { Icon } from "../../parts/icons.tsx";
import { counted, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";

export function RevenueAtRisk(): ReactElement | null {
  const { kind, asked } = useMrrAtRisk(undefined, 1);
  if (asked.data === undefined || asked.data.payersWithRisk === 0) return null;
  const { reportingCurrency, expectedLoss, horizonDays, payersWithRisk, highRiskMrr, highRiskPayers, mrr } =
    asked.data;
  const money = moneyIn(reportingCurrency);
  return (
    <PageLink
      to="/o/$organization/revenue"
      className="flex items-center justify-between gap-3 rounded border border-line bg-surface px-4 py-3 text-ink no-underline hover:border-ink"
    >
      <span className="min-w-0">
        {expectedLoss === null ? (
          <>
            <Amount>{money.short(highRiskMrr)}</Amount> MRR of {counted(highRiskPayers, kind)} at high risk
          </>
        ) : (
          <>
            <Amount>{money.short(expectedLoss.mrr)}</Amount> MRR at risk in {counted(payersWithRisk, kind)}
            {highRiskPayers > 0 && `, ${numbers.count(highRiskPayers)} of them at high risk`}
            <span className="text-soft"> · expected loss in {horizonDays} days</span>
          </>
        )}
        <span className="text-soft"> · of {money.short(mrr)} MRR</span>
      </span>
      <Icon name="right" className="shrink-0 text-soft" />
    </PageLink>
  );
}

function Amount({ children }: { children: string }): ReactElement {
  return <b className="text-lg font-medium">{children}</b>;
}
