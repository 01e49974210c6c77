/** How MRR moved in a period: a waterfall from its start to its end, and what payers of its start kept. */
import type { ReactElement } from "react";
import { MoneyWaterfall } from "../../charts/money-waterfall.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { counted, dayText, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import {
  chosenPeriod,
  churnedVoluntarily,
  dayBefore,
  type Group,
  type PeriodRevenue,
  periodTitle,
} from "./periods.ts";
import { type Period, useChoices } from "./question.ts";
import { definitions } from "./summary.tsx";

interface MovementsProps {
  readonly all: Group;
  /** Empty without a split. */
  readonly groups: readonly Group[];
  readonly currency: string;
}

export function Movements({ all, groups, currency }: MovementsProps): ReactElement {
  const [{ period, at, group: chosenKey }, change] = useChoices();
  const group = groups.find(({ key }) => key === chosenKey) ?? all;
  const shown = chosenPeriod(group.periods, at);
  return (
    <Panel
      title="Movements"
      note="How MRR came from the start of the period to its end"
      actions={
        <div className="flex flex-wrap gap-2">
          {groups.length > 0 && (
            <SmallSelect
              label="Payers of"
              className="max-w-48"
              value={group.key}
              choices={[all, ...groups].map(({ key, label }) => ({ value: key, label }))}
              onChoose={(key) => change({ group: key === all.key ? "" : key })}
            />
          )}
          {shown !== undefined && (
            <SmallSelect
              label="Period"
              value={shown.fromDay}
              choices={group.periods
                .map((one) => ({ value: one.fromDay, label: periodTitle(one, period) }))
                .toReversed()}
              onChoose={(day) => change({ at: day })}
            />
          )}
        </div>
      }
    >
      {shown === undefined || !hasMoved(shown) ? (
        <Empty title="No MRR in this period">Choose another period.</Empty>
      ) : (
        <div className="grid gap-6">
          <Waterfall shown={shown} currency={currency} />
          <Kept shown={shown} period={period} />
        </div>
      )}
    </Panel>
  );
}

function hasMoved({ startMrr, newMrr, reactivatedMrr, endMrr }: PeriodRevenue): boolean {
  return startMrr + newMrr + reactivatedMrr + endMrr > 0;
}

function Waterfall({ shown, currency }: { shown: PeriodRevenue; currency: string }): ReactElement {
  const voluntary = churnedVoluntarily(shown);
  const payers = (count: number) => counted(count, "payer");
  return (
    <MoneyWaterfall
      label={`Movements of MRR from ${dayText(shown.fromDay)} to ${dayText(shown.toDay)}`}
      money={moneyIn(currency)}
      start={{
        label: `MRR on ${dayText(dayBefore(shown))}`,
        amount: shown.startMrr,
        note: payers(shown.startPayers),
      }}
      steps={[
        {
          label: "New",
          hint: "MRR of payers that never had any before",
          amount: shown.newMrr,
          note: payers(shown.newPayers),
        },
        {
          label: "Reactivated",
          hint: "MRR of payers that had none at the start of the month, and had some before",
          amount: shown.reactivatedMrr,
          note: payers(shown.reactivatedPayers),
        },
        {
          label: "Expansion",
          hint: "The rise of MRR of payers that had some at the start of the month",
          amount: shown.expansionMrr,
          note: payers(shown.expansionPayers),
        },
        ...ofTransfers(
          "Transferred in",
          "MRR of subscriptions that passed to these payers from others",
          shown.transferredInMrr,
          payers(shown.transferredInPayers),
        ),
        {
          label: "Contraction",
          hint: "The fall of MRR of payers that have some left",
          amount: -shown.contractionMrr,
          note: payers(shown.contractionPayers),
        },
        {
          label: "Churned, voluntary",
          hint: "MRR of payers that have none at the end of the month, because they canceled",
          amount: -voluntary.mrr,
          note: payers(voluntary.payers),
        },
        {
          label: "Churned, failed payments",
          hint: "MRR of payers that have none at the end of the month, because payments failed",
          amount: -shown.churnedInvoluntarilyMrr,
          note: payers(shown.churnedInvoluntarilyPayers),
        },
        ...ofTransfers(
          "Transferred out",
          "MRR of subscriptions that passed from these payers to others",
          -shown.transferredOutMrr,
          payers(shown.transferredOutPayers),
        ),
      ]}
      end={{
        label: `MRR on ${dayText(shown.toDay)}`,
        amount: shown.endMrr,
        note: payers(shown.endPayers),
      }}
    />
  );
}

/** Transfers are rare, so their step is there only when there are some. */
function ofTransfers(label: string, hint: string, amount: number, note: string) {
  return amount === 0 ? [] : [{ label, hint, amount, note }];
}

function Kept({ shown, period }: { shown: PeriodRevenue; period: Period }): ReactElement {
  const figures = [
    { label: "NRR", hint: definitions.nrr, value: shown.nrr },
    { label: "GRR", hint: definitions.grr, value: shown.grr },
    { label: "Logo churn", hint: definitions.logoChurn, value: shown.logoChurn },
    { label: "voluntary", hint: "Payers that canceled", value: shown.voluntaryLogoChurn },
    {
      label: "failed payments",
      hint: "Payers whose payments failed",
      value: shown.involuntaryLogoChurn,
    },
  ];
  return (
    <div className="grid gap-3 border-t border-line pt-4">
      <dl className="flex flex-wrap gap-x-8 gap-y-2">
        {figures.map(({ label, hint, value }) => (
          <div key={label} title={hint}>
            <dt className="text-sm text-soft">{label}</dt>
            <dd className="font-medium">{numbers.share(value)}</dd>
          </div>
        ))}
      </dl>
      <p className="max-w-[80ch] text-sm text-soft">
        {period !== "month" && `The movements of a ${period} are the sums of its months. `}
        NRR, GRR and logo churn compare the two ends of the {period}
        {period === "month"
          ? "."
          : `. A payer that left and came back within the ${period} is in the movements, and in no churn.`}
        {shown.nrr === null && " No payer had MRR at its start, so there are none."}
      </p>
    </div>
  );
}
