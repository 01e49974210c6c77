/** MRR at risk in one line, linked to the revenue page. Nothing is drawn without subscriptions. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { PageLink } from "../../app/page-link.ts";
import { type PayerKind, useMrrAtRisk } from "../../parts/figure/mrr-at-risk.ts";
import { Icon } from "../../parts/icons.tsx";
import { counted, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import { useScoredSegment } from "./filters.ts";

type AtRisk = Reads["/api/revenue/at-risk"]["answer"];

/** All of it, or that of payers of the segment whose health is shown. */
export function RevenueAtRisk(): ReactElement | null {
  const ofSegment = useScoredSegment();
  const { segment } = ofSegment;
  const { kind, asked } = useMrrAtRisk(undefined, { limit: 1, ...ofSegment });
  if (asked.data === undefined || asked.data.payers === 0) return null;
  return (
    <PageLink
      to="/o/$organization/revenue"
      search={segment === undefined ? {} : { segment: String(segment) }}
      className="flex items-center justify-between gap-3 rounded border border-line bg-surface px-4 py-3 text-ink no-underline hover:border-ink"
    >
      <span className="min-w-0">
        <Finding answer={asked.data} kind={kind} />
        {segment !== undefined && <span className="text-soft"> · payers of the segment</span>}
      </span>
      <Icon name="right" className="shrink-0 text-soft" />
    </PageLink>
  );
}

function Finding({ answer, kind }: { answer: AtRisk; kind: PayerKind }): ReactElement {
  const { expectedLoss, payersWithRisk, highRiskPayers, payers } = answer;
  const money = moneyIn(answer.reportingCurrency);
  const all = money.short(answer.mrr);
  if (payersWithRisk === 0 && (expectedLoss === null || expectedLoss.payers === 0)) {
    return (
      <>
        <Amount>{all}</Amount> MRR of {counted(payers, kind)}
        <span className="text-soft"> · no churn risk is known</span>
      </>
    );
  }
  if (expectedLoss === null) {
    return (
      <>
        <Amount>{money.short(answer.highRiskMrr)}</Amount> MRR of {counted(highRiskPayers, kind)} at high risk
        <span className="text-soft"> · of {all} MRR</span>
      </>
    );
  }
  return (
    <>
      <Amount>{money.short(expectedLoss.mrr)}</Amount> MRR at risk in {counted(expectedLoss.payers, kind)}
      {highRiskPayers > 0 && `, ${numbers.count(highRiskPayers)} of them at high risk`}
      <span className="text-soft">
        {" "}
        · expected loss in {answer.horizonDays} days · of {all} MRR
      </span>
    </>
  );
}

function Amount({ children }: { children: string }): ReactElement {
  return <b className="text-lg font-medium">{children}</b>;
}
