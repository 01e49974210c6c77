/** MRR at risk: what is expected to be lost within the churn horizon, and the payers behind it. */
import type { ReactElement, ReactNode } from "react";
import { callListLimits } from "../../../contract/call-list.ts";
import { csvAddress, type Reads } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { type PayerKind, useMrrAtRisk } from "../../parts/figure/mrr-at-risk.ts";
import { SmallSelect } from "../../parts/form/field.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { counted, dayText, nothing, numbers } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { segmentQueryOf, useChoices } from "./question.ts";
import { usualChurnText, withoutRiskText } from "./without-risk.ts";

type Answer = Reads["/api/revenue/at-risk"]["answer"];
type Row = Answer["atRisk"][number];

const plural: Readonly<Record<PayerKind, string>> = { account: "accounts", user: "users" };
const kinds = [
  { value: "account", label: "Accounts" },
  { value: "user", label: "Users without an account" },
] as const;
const shownPayers = 100;
const csvPayers = 1_000;

export function AtRiskPanel(): ReactElement {
  const [choices, change] = useChoices();
  const ofSegment = segmentQueryOf(choices);
  const { kind, asked } = useMrrAtRisk(choices.payers || undefined, { limit: shownPayers, ...ofSegment });
  const isLoss = asked.data === undefined || asked.data.expectedLoss !== null;
  return (
    <FigurePanel
      title={isLoss ? "MRR at risk" : "MRR at high risk"}
      isFlush
      actions={
        <>
          <SmallSelect
            label="Payers"
            value={kind}
            choices={kinds}
            onChoose={(chosen) => change({ payers: chosen })}
          />
          <CsvLink address={csvAddress("/api/revenue/at-risk", { kind, limit: csvPayers, ...ofSegment })} />
        </>
      }
      asked={asked}
      loading={<Loading rows={6} />}
      empty={(answer) => whyEmpty(answer, kind, choices.segment !== undefined)}
    >
      {(answer) => <AtRisk answer={answer} kind={kind} />}
    </FigurePanel>
  );
}

function whyEmpty(answer: Answer, kind: PayerKind, isOfSegment: boolean): ReactNode {
  const { payers, day, payersWithRisk, expectedLoss } = answer;
  if (payers === 0) {
    const whose = isOfSegment ? " of the segment" : "";
    return (
      <Empty
        title={kind === "account" ? `No account${whose} has MRR` : `No user${whose} pays without an account`}
      >
        Choose the other kind of payers{isOfSegment && ", or another segment"}.
      </Empty>
    );
  }
  if (day === null) {
    return <Empty title="No scores yet">MRR at risk appears with the first scores of {plural[kind]}.</Empty>;
  }
  if (payersWithRisk > 0 || (expectedLoss !== null && expectedLoss.payers > 0)) return false;
  return (
    <Empty title="No churn risk is known">
      {withoutRiskText(answer, kind, moneyIn(answer.reportingCurrency))} {usualChurnText(answer, kind)}{" "}
      <PageLink to="/o/$organization/model">See the Model page.</PageLink>
    </Empty>
  );
}

function AtRisk({ answer, kind }: { answer: Answer; kind: PayerKind }): ReactElement {
  const money = moneyIn(answer.reportingCurrency);
  const { atRisk, expectedLoss, dataStoppedSince, day } = answer;
  return (
    <>
      <div className="grid gap-1 px-4 pb-4">
        {expectedLoss === null ? (
          <HighRisk answer={answer} kind={kind} money={money} />
        ) : (
          <Loss answer={answer} kind={kind} loss={expectedLoss} money={money} />
        )}
        <p className="text-sm text-soft">
          By the scores of {dayText(day)}
          {dataStoppedSince !== null && `, before the data stopped on ${dayText(dataStoppedSince)}`}.
        </p>
      </div>
      {atRisk.length > 0 && (
        <DataTable
          label={
            expectedLoss === null
              ? `Paying ${plural[kind]} at high risk`
              : `Paying ${plural[kind]} by expected loss`
          }
          name="revenue-at-risk"
          isPlain
          rows={atRisk}
          columns={columnsOf(kind, money, expectedLoss !== null)}
          rowId={({ id }) => id}
        />
      )}
    </>
  );
}

interface FindingProps {
  readonly answer: Answer;
  readonly kind: PayerKind;
  readonly money: Money;
}

/** With the churn target `subscription`: MRR that ends as scheduled, and the sum of churn risk × other
 * MRR. */
function Loss({
  answer,
  kind,
  loss: { mrr, scheduledMrr, low, high, laterMrr, laterPayers },
  money,
}: FindingProps & { loss: NonNullable<Answer["expectedLoss"]> }): ReactElement {
  const { horizonDays, mrrWithRisk, payersWithRisk } = answer;
  return (
    <>
      <Figure amount={money.short(mrr)}>
        expected to be lost in the next {horizonDays} days (90% interval: {money.short(low)} to{" "}
        {money.short(high)})
      </Figure>
      <p className="max-w-[100ch] text-sm text-soft">
        {payersWithRisk > 0 &&
          `The sum of churn risk × MRR, of ${money.short(mrrWithRisk)} MRR of ${counted(payersWithRisk, kind)}. `}
        {scheduledMrr > 0 &&
          `${money.short(scheduledMrr)} of the expected loss ends as scheduled and counts in full. `}
        {laterMrr > 0 &&
          `${money.short(laterMrr)} more of ${counted(laterPayers, kind)} ends as scheduled after these ${horizonDays} days, within ${callListLimits.endDays} days. `}
        {payersWithRisk > 0 && `${highRiskText(answer, kind, money)}`}
        {` ${withoutRiskText(answer, kind, money) ?? ""}`}
      </p>
    </>
  );
}

function highRiskText({ highRiskPayers, highRiskMrr }: Answer, kind: PayerKind, money: Money): string {
  if (highRiskPayers === 0) return "None is at high risk.";
  const is = highRiskPayers === 1 ? "is" : "are";
  return `${counted(highRiskPayers, kind)} with ${money.short(highRiskMrr)} MRR ${is} at high risk.`;
}

/** With any other churn target nothing is multiplied: such a churn risk is no probability that MRR is
 * lost. */
function HighRisk({ answer, kind, money }: FindingProps): ReactElement {
  const { highRiskMrr, highRiskPayers, mrrWithRisk, payersWithRisk } = answer;
  return (
    <>
      <Figure amount={money.short(highRiskMrr)}>MRR of {counted(highRiskPayers, kind)} at high risk</Figure>
      <p className="max-w-[100ch] text-sm text-soft">
        Of {money.short(mrrWithRisk)} MRR of {counted(payersWithRisk, kind)} with a churn risk. The churn
        target of {plural[kind]} is not the end of a subscription, so a churn risk is no probability that MRR
        is lost.{" "}
        <PageLink to="/o/$organization/settings/scores" className="underline">
          Choose the churn target “when the last subscription ended”
        </PageLink>{" "}
        to see an expected loss.
        {` ${withoutRiskText(answer, kind, money) ?? ""}`}
      </p>
    </>
  );
}

function Figure({ amount, children }: { amount: string; children: ReactNode }): ReactElement {
  return (
    <p>
      <b className="mr-1.5 text-2xl font-medium tracking-[-0.02em]">{amount}</b> {children}
    </p>
  );
}

function columnsOf(kind: PayerKind, money: Money, hasLoss: boolean): readonly Column<Row>[] {
  return [
    {
      id: "payer",
      header: kind === "account" ? "Account" : "User",
      isFixed: true,
      width: 180,
      cell: ({ id, name }) => <EntityLink kind={kind} id={id} label={name} title={name || id} />,
    },
    figureColumn("mrr", "MRR", "Monthly recurring revenue now", ({ mrr }) => money.exact(mrr)),
    figureColumn("churnRisk", "Churn risk", "Within the churn horizon", ({ churnRisk }) =>
      churnRisk === null ? nothing : numbers.risk(churnRisk),
    ),
    ...(hasLoss
      ? [
          figureColumn<Row>(
            "expectedLoss",
            "Expected loss",
            "Churn risk × MRR; MRR that ends as scheduled counts in full",
            ({ expectedLoss }) => (expectedLoss === null ? nothing : money.exact(expectedLoss)),
          ),
          figureColumn<Row>(
            "laterMrr",
            "Ends later",
            `MRR that ends as scheduled after the horizon, within ${callListLimits.endDays} days`,
            ({ laterMrr }) => (laterMrr === 0 ? nothing : money.exact(laterMrr)),
          ),
        ]
      : []),
  ];
}
