/** The model page: a plain summary first, statistics under it. */
import type { ReactElement } from "react";
import { csvAddress, useRead } from "../../api/query.ts";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { Badge } from "../../parts/figure/health.tsx";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { Select } from "../../parts/form/field.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { labelledFilter, useFilters } from "../../parts/list/filters.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { LiftPanel, RealisedPanel, ReliabilityPanel } from "./charts.tsx";
import { LadderPanel, ModelName, ProofPanel } from "./ladder.tsx";
import {
  baseRateText,
  type Card,
  departuresStoppedText,
  type Judged,
  leavesOutScheduledEnds,
  outagesText,
  plainResult,
  servingResult,
  subscriptionEndsText,
  verdict,
} from "./words.ts";

const filters = {
  kind: labelledFilter({ user: "Churn risk of users", account: "Churn risk of accounts" }, "user"),
};

export default function ModelPage(): ReactElement {
  const [{ kind }, change] = useFilters(filters);
  const asked = useRead("/api/model", { query: { kind }, keepsPrevious: true });
  return (
    <>
      <PageHeader
        title="Model"
        actions={
          <Select
            label="Predictions about"
            isLabelHidden
            value={kind}
            choices={filters.kind.choices}
            onChoose={(chosen) => change({ kind: chosen })}
          />
        }
      >
        <Freshness freshness={asked.data?.freshness} />
      </PageHeader>
      <Figures
        asked={asked}
        loading={
          <Panel>
            <Loading rows={10} height={28} />
          </Panel>
        }
      >
        {(card) => (
          <div className="grid gap-5">
            <Verdict card={card} />
            <Scores card={card} />
            <SubscriptionEnds card={card} />
            {card.reliability.length > 0 && (
              <div className="grid items-start gap-5 xl:grid-cols-2">
                <ReliabilityPanel card={card} />
                <LiftPanel card={card} />
              </div>
            )}
            <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
              <div className="grid gap-5">
                <LadderPanel card={card} />
                {card.day !== null && <RealisedPanel card={card} />}
              </div>
              <div className="grid gap-5">
                <ProofPanel card={card} />
                <Measures card={card} />
              </div>
            </div>
            {card.models.length > 0 && <Comparison card={card} />}
          </div>
        )}
      </Figures>
    </>
  );
}

function Verdict({ card }: { card: Card }): ReactElement {
  const { title, text } = verdict(card);
  const plain = plainResult(card);
  const observed = baseRateText(card);
  const { isProven, isProvisional, model, isCurrent, dataStoppedSince, isConverged } = card;
  return (
    <Panel>
      {plain !== undefined && (
        <div className="mb-4 border-b border-line pb-4">
          <p className="max-w-[50ch] text-2xl font-medium tracking-[-0.02em]">{plain.text}</p>
          <p className="mt-1 text-sm text-soft">{plain.source}</p>
        </div>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="text-lg">{title}</h2>
        <Badge tone={isProvisional ? "warn" : isProven ? "good" : model === null ? "plain" : "warn"}>
          {isProvisional ? "Provisional" : isProven ? "Proven" : model === null ? "None" : "Not proven"}
        </Badge>
      </div>
      <p className="mt-1 max-w-[84ch]">{text}</p>
      {model === null && observed !== undefined && <p className="mt-2 max-w-[84ch]">Base rate {observed}.</p>}
      <p className="mt-2 max-w-[84ch]">Churn means: {card.churnMeans}.</p>
      {leavesOutScheduledEnds(card) && (
        <p className="mt-2 max-w-[84ch] text-soft">
          {card.churnTarget.by === "subscription" &&
            `Only ${card.kind}s with a subscription that is active or past due have a churn risk. `}
          The figures leave out {card.kind}s whose end is scheduled.
        </p>
      )}
      {dataStoppedSince !== null && (
        <p className="mt-2 max-w-[84ch] text-at-risk">
          No data since {dayText(dataStoppedSince)}: data collection has stopped, or a source has. Scores
          wait.
        </p>
      )}
      {card.noDeparturesSince !== null && (
        <p className="mt-2 max-w-[84ch] text-at-risk">{departuresStoppedText(card)}</p>
      )}
      {!isCurrent && (
        <p className="mt-2 max-w-[84ch] text-soft">
          Events from before the day of these scores arrived later. The next run includes them.
        </p>
      )}
      {!isConverged && (
        <p className="mt-2 max-w-[84ch] text-watch">
          The search for the best parameters ended in different places. Use these figures with care.
        </p>
      )}
    </Panel>
  );
}

/** The four figures of the model in use, each with a plain name. */
function Scores({ card }: { card: Card }): ReactElement | null {
  const result = servingResult(card);
  if (result === undefined) return null;
  const { auc, logLoss, recencyLogLoss, topDecileLift, calibrationError, count, cutoffs } = result;
  const recency = card.models.find(({ model }) => model === "recency");
  const judged = `Of ${numbers.count(count)} predictions on ${cutoffs} past ${cutoffs === 1 ? "day" : "days"}`;
  return (
    <Stats>
      <Stat
        label="Right order (AUC)"
        hint={`${judged}: the chance that a user who left had a higher risk than one who stayed`}
        value={auc === null ? nothing : `${numbers.decimal(auc * 100)} of 100`}
        note={`pairs in the right order. Chance is 50${recency?.auc == null ? "" : `, the last visit alone has ${numbers.decimal(recency.auc * 100)}`}`}
      />
      <Stat
        label="Better than the last visit (log loss)"
        hint={`${judged}: the improvement over the simple rule that longer silence means a higher risk`}
        value={numbers.shareChange(1 - logLoss / recencyLogLoss)}
        note={`a log loss of ${numbers.thousandths(logLoss)}, by the last visit alone ${numbers.thousandths(recencyLogLoss)}`}
      />
      <Stat
        label="Concentration (lift)"
        hint={`${judged}: the churn rate of the tenth with the highest risk, divided by the overall rate`}
        value={topDecileLift === null ? nothing : `${numbers.decimal(topDecileLift)} ×`}
        note="the churn rate of the tenth with the highest risk, compared with all"
      />
      <Stat
        label="Mean error (calibration)"
        hint={`${judged}: the mean distance between predicted and actual churn rate, over tenths`}
        value={`${numbers.decimal(calibrationError * 100)} points`}
        note={`on average. A perfect model would show ${numbers.decimal(result.calibrationErrorOfPerfection * 100)} by chance`}
      />
    </Stats>
  );
}

/** Figures with scheduled ends, and the number of ends by failed payments. */
function SubscriptionEnds({ card }: { card: Card }): ReactElement | null {
  const sentences = subscriptionEndsText(card);
  if (sentences.length === 0) return null;
  return <p className="max-w-[100ch] text-sm text-soft">{sentences.join(" ")}</p>;
}

function Measures({ card }: { card: Card }): ReactElement {
  const { horizonDays, advisedHorizonDays, baseRate, trainedDay, day, scale, kind, outages } = card;
  const rows: readonly (readonly [string, string])[] = [
    ["Predictions are for", `${horizonDays} days`],
    [
      "Suggested horizon",
      advisedHorizonDays === null
        ? "not enough return visits yet"
        : `${advisedHorizonDays} days: 90% of gaps between visits are at most this long`,
    ],
    [
      "Base rate",
      baseRateText(card) ??
        (baseRate === null ? "not known yet" : `${numbers.share(baseRate)} left in the back-test`),
    ],
    ["Scores as of", day === null ? "no scores yet" : `the start of ${dayText(day)}`],
    ["Trained and judged as of", trainedDay === null ? "not yet" : dayText(trainedDay)],
    ...(scale === null
      ? []
      : ([
          [
            `A fully engaged ${kind}`,
            `is active on ${numbers.decimal(scale.activeDays)} of 28 days, with ${numbers.decimal(scale.volume)} events of ${numbers.decimal(scale.eventNames)} kinds (measured ${dayText(scale.measuredDay)})`,
          ],
        ] as const)),
    ...(outages.length === 0 ? [] : [["Days without data", outagesText(outages)] as const]),
  ];
  return (
    <Panel title="Definitions">
      <dl>
        {rows.map(([name, text]) => (
          <div
            key={name}
            className="grid gap-x-4 border-t border-line py-1.5 first:border-0 first:pt-0 sm:grid-cols-[11rem_1fr]"
          >
            <dt className="text-soft">{name}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

const columnsFor = (card: Card): readonly Column<Judged>[] => [
  {
    id: "model",
    header: "Model",
    isFixed: true,
    width: 240,
    cell: ({ model }) => <ModelName card={card} model={model} />,
  },
  figureColumn("auc", "AUC", "Higher is better; .5 is chance", ({ auc }) => numbers.thousandths(auc)),
  figureColumn("logLoss", "Log loss", "Lower is better", ({ logLoss }) => numbers.thousandths(logLoss)),
  figureColumn(
    "recency",
    "Last visit alone",
    "The log loss of the baseline on the very same rows",
    ({ recencyLogLoss }) => numbers.thousandths(recencyLogLoss),
  ),
  figureColumn("brier", "Brier", "Lower is better", ({ brier }) => numbers.thousandths(brier)),
  figureColumn("calibration", "Calibration error", "Lower is better", ({ calibrationError }) =>
    numbers.thousandths(calibrationError),
  ),
  figureColumn(
    "slope",
    "Calibration slope",
    "1 is right; below, predictions are too extreme",
    ({ calibrationSlope }) => numbers.thousandths(calibrationSlope),
    { isHidden: true },
  ),
  figureColumn("lift", "Lift", "For the tenth with the highest risk", ({ topDecileLift }) =>
    topDecileLift === null ? nothing : `${numbers.decimal(topDecileLift)} ×`,
  ),
  figureColumn("rows", "Judged", "Predictions", ({ count }) => numbers.count(count)),
  figureColumn(
    "cutoffs",
    "Past days",
    "Cut-off dates. Models with different dates cannot be compared directly.",
    ({ cutoffs }) => numbers.count(cutoffs),
  ),
];

function Comparison({ card }: { card: Card }): ReactElement {
  return (
    <Panel
      isFlush
      title="All models in the back-test"
      note="A model is evaluated only on data that is newer than its training data. Compare models with different numbers of past days through the baseline, which has the same rows."
    >
      <DataTable
        label="Back-test of all models"
        name="models"
        rows={card.models}
        columns={columnsFor(card)}
        rowId={({ model }) => model}
        csv={csvAddress("/api/model", { kind: card.kind })}
      />
    </Panel>
  );
}
