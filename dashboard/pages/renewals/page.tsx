/** Renewals by month: what is due and expected to renew, what came of past months, and the payers of one. */
import type { ReactElement } from "react";
import { csvAddress, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { Pick } from "../../parts/list/pick.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { counted } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import { Connect } from "../revenue/connect.tsx";
import { OwnerPick } from "../tasks/owner-pick.tsx";
import { ComingMonths, PastMonths } from "./months.tsx";
import { PayersPanel } from "./payers.tsx";
import { intervals, kinds, queryOf, type Renewals, useChoices } from "./question.ts";

export default function RenewalsPage(): ReactElement {
  const [choices] = useChoices();
  const query = queryOf(choices);
  const asked = useRead("/api/renewals", { query, keepsPrevious: true });
  const hasSubscriptions = asked.data?.hasSubscriptions === true;
  return (
    <>
      <PageHeader
        title="Renewals"
        actions={
          hasSubscriptions && (
            <>
              <Picks />
              <CsvLink address={csvAddress("/api/renewals", query)} />
            </>
          )
        }
      >
        <Freshness freshness={asked.data?.freshness} />
      </PageHeader>
      <Figures
        asked={asked}
        loading={
          <Panel title="This month and the coming ones">
            <Loading rows={8} />
          </Panel>
        }
        empty={(answer) =>
          !answer.hasSubscriptions && (
            <Connect note="This page shows which subscriptions renew in which month, and what is expected to renew." />
          )
        }
      >
        {(answer) => <Everything answer={answer} />}
      </Figures>
    </>
  );
}

function Picks(): ReactElement {
  const [{ kind, interval, plan, owner }, change] = useChoices();
  const plans = (useRead("/api/plans", { query: { kind } }).data?.plans ?? []).map((one) => one.plan);
  const offered = plan === "" || plans.includes(plan) ? plans : [plan, ...plans];
  return (
    <>
      <Pick
        label="Payers"
        value={kind}
        byDefault="account"
        choices={kinds}
        onChoose={(to) => change({ kind: to, plan: "" })}
      />
      <Pick
        label="Billing interval"
        value={interval}
        byDefault="all"
        choices={intervals}
        onChoose={(to) => change({ interval: to })}
      />
      <Pick
        label="Plan"
        value={plan}
        choices={[{ value: "", label: "Any plan" }, ...offered.map((value) => ({ value, label: value }))]}
        onChoose={(to) => change({ plan: to })}
      />
      <OwnerPick value={owner} onChoose={(to) => change({ owner: to })} />
    </>
  );
}

function Everything({ answer }: { answer: Renewals }): ReactElement {
  return (
    <div className="grid gap-5">
      <Panel title="This month and the coming ones" note={<HowSure answer={answer} />} isFlush>
        <ComingMonths answer={answer} />
        <Undated answer={answer} />
      </Panel>
      <PayersPanel answer={answer} />
      <Panel
        title={answer.isForecast ? "Past months: forecast and outcome" : "Past months: expected and outcome"}
        note="As of the start of each month, by the scores of that day; never by today’s."
        isFlush
      >
        <PastMonths answer={answer} />
      </Panel>
    </div>
  );
}

/** Whether "expected" may be called a forecast, or why nothing is expected. */
function HowSure({ answer }: { answer: Renewals }): ReactElement {
  const { churnTarget, months, isForecast, comparedMonths, neededMonths } = answer;
  const hasExpected = months.some(({ phase, expectedMrr }) => phase !== "past" && expectedMrr !== null);
  if (hasExpected) {
    return (
      <>
        {isForecast
          ? `${counted(comparedMonths, "past month")} can be compared with what came, below.`
          : `Not called a forecast yet: ${comparedMonths} of ${neededMonths} past months can be compared with what came.`}
      </>
    );
  }
  return churnTarget !== null && churnTarget.by !== "subscription" ? (
    <>
      Nothing is expected: the churn risk is not that of losing a subscription.{" "}
      <PageLink to="/o/$organization/settings/scores" className="underline">
        Choose the churn target “when the last subscription ended”
      </PageLink>
    </>
  ) : (
    <>
      No churn risk yet, so this is only what is due.{" "}
      <PageLink to="/o/$organization/model" className="underline">
        See the Model page
      </PageLink>
    </>
  );
}

function Undated({ answer }: { answer: Renewals }): ReactElement | null {
  const { undatedPayers, undatedMrr, reportingCurrency } = answer;
  if (undatedPayers === 0) return null;
  return (
    <p className="px-4 pt-2 pb-3 text-sm text-soft">
      {counted(undatedPayers, "payer")} with {moneyIn(reportingCurrency).short(undatedMrr)} MRR{" "}
      {undatedPayers === 1 ? "is" : "are"} in no month: no end of a period is known.
    </p>
  );
}
