/** The predicted churn rate, compared with the base rate. */
import { type ReactElement, type ReactNode, useCallback } from "react";
import { type Asked, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import {
  baseRateSeries,
  Chart,
  categoryAxis,
  gridBelowLegend,
  legendOf,
  lineSeries,
  valueAxis,
} from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { RiskLevel } from "../../parts/figure/health.tsx";
import { CountLink } from "../../parts/list/list-link.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { churningText } from "../../text/churning.ts";
import { dayText, numbers } from "../../text/format.ts";
import { type Kind, plural, useScoredSegment } from "./filters.ts";
import { type HealthByWeek, NoScores, sizeOf } from "./health.tsx";
import { those, thoseNow, thoseOn } from "./lists.ts";

export function RiskPanel({ kind, asked }: { kind: Kind; asked: Asked<HealthByWeek> }): ReactElement {
  return (
    <FigurePanel
      title="Churn risk"
      note={asked.data && `How likely ${plural[kind]} are ${churningText(asked.data)}`}
      asked={asked}
      loading={<Loading rows={8} height={28} />}
      empty={({ weeks }) => weeks.length === 0 && <NoScores kind={kind} />}
    >
      {(answer) => <Risk kind={kind} answer={answer} />}
    </FigurePanel>
  );
}

function Risk({ kind, answer }: { kind: Kind; answer: HealthByWeek }): ReactElement {
  const { segment } = useScoredSegment();
  const { weeks, baseRate, horizonDays } = answer;
  const now = weeks.at(-1);
  if (now?.meanRisk == null) {
    return (
      <Empty title="No churn risk is shown">
        {segment !== undefined
          ? `No ${kind} of this segment has one now.`
          : `No model gives one yet: ${plural[kind]} are ordered by activity.`}{" "}
        <ToModel>See why on the Model page.</ToModel>
      </Empty>
    );
  }
  return (
    <div className="grid gap-5">
      <div className="grid gap-x-8 gap-y-3 sm:grid-cols-2">
        <Rate name={`Predicted churn rate, ${horizonDays} days`} rate={now.meanRisk}>
          about {numbers.count(now.expectedChurn)} of{" "}
          <CountLink
            count={now.withRisk}
            list={now.withRisk === sizeOf(now) ? thoseNow(kind, "present") : undefined}
          />{" "}
          {plural[kind]}
        </Rate>
        <Rate name="Usual" rate={baseRate}>
          {baseRate === null ? "not known yet" : `churned within ${horizonDays} days in the past`}
        </Rate>
      </div>
      {weeks.length > 1 && <RiskChart kind={kind} answer={answer} />}
      <Bands kind={kind} />
      <p className="text-sm text-soft">
        <ToModel>How good these predictions are</ToModel>
      </p>
    </div>
  );
}

function Rate({ name, rate, children }: { name: string; rate: number | null; children: ReactNode }) {
  return (
    <dl>
      <dt className="text-sm text-soft">{name}</dt>
      <dd className="text-2xl font-medium tracking-[-0.02em]">{numbers.share(rate)}</dd>
      <dd className="text-sm text-soft">{children}</dd>
    </dl>
  );
}

function ToModel({ children }: { children: string }): ReactElement {
  return <PageLink to="/o/$organization/model">{children}</PageLink>;
}

function RiskChart({
  kind,
  answer: { weeks, baseRate },
}: {
  kind: Kind;
  answer: HealthByWeek;
}): ReactElement {
  const newest = weeks.at(-1)?.day;
  const behind = (day: string) =>
    day === newest ? thoseNow(kind, "present") : thoseOn(kind, day, "present");
  const option = useCallback(
    (colours: Colours) => ({
      tooltip: tooltipOf(numbers.share),
      legend: legendOf(colours),
      grid: gridBelowLegend,
      xAxis: categoryAxis(
        colours,
        weeks.map(({ day }) => dayText(day, "short")),
      ),
      yAxis: { ...valueAxis(colours, numbers.share), min: 0, max: ceiling(weeks, baseRate) },
      series: [
        lineSeries(
          "Mean churn risk",
          weeks.map(({ meanRisk }) => meanRisk),
          colours["series-1"],
          { width: 2 },
        ),
        ...(baseRate === null
          ? []
          : [
              baseRateSeries(
                colours,
                weeks.map(() => baseRate),
              ),
            ]),
      ],
    }),
    [weeks, baseRate],
  );
  return (
    <Chart
      label={`Mean churn risk of ${plural[kind]} by week, with the base rate`}
      height={200}
      option={option}
      table={{
        columns: ["As of", "Mean churn risk", "Predicted to churn", "Of"],
        rows: weeks
          .toReversed()
          .map((week) => [
            dayText(week.day),
            numbers.share(week.meanRisk),
            numbers.decimal(week.expectedChurn),
            <CountLink
              key="of"
              isQuiet
              count={week.withRisk}
              list={week.withRisk === sizeOf(week) ? behind(week.day) : undefined}
            />,
          ]),
      }}
    />
  );
}

/** A round top of the axis, a quarter above what is drawn. */
function ceiling(weeks: HealthByWeek["weeks"], baseRate: number | null): number {
  const most = Math.max(0.01, baseRate ?? 0, ...weeks.map(({ meanRisk }) => meanRisk ?? 0)) * 1.25;
  const step = [0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8].find((each) => each >= most);
  return step ?? 1;
}

function bandsOf({ medium, high }: { medium: number; high: number }, baseRate: number | null) {
  const from = (risk: number) =>
    baseRate === null || baseRate === 0
      ? numbers.riskTenths(risk)
      : `${numbers.riskTenths(risk)}, ${numbers.decimal(risk / baseRate)} times the base rate`;
  return [
    { riskBand: "high", word: "High risk", from: `from ${from(high)}` },
    { riskBand: "medium", word: "Medium risk", from: `from ${from(medium)}` },
    { riskBand: "low", word: "Low risk", from: `below ${numbers.riskTenths(medium)}` },
  ] as const;
}

function Bands({ kind }: { kind: Kind }): ReactElement | null {
  const { data } = useRead("/api/score-summary", { query: { kind, ...useScoredSegment() } });
  if (data?.riskLimits == null) return null;
  const of = (riskBand: string) =>
    data.counts.reduce((sum, each) => (each.riskBand === riskBand ? sum + each.count : sum), 0);
  return (
    <section aria-label="Risk bands">
      <h3 className="mb-1 text-sm text-soft">Bands of churn risk</h3>
      <ul className="grid grid-cols-3 gap-px overflow-hidden rounded border border-line bg-line *:bg-surface">
        {bandsOf(data.riskLimits, data.baseRate).map(({ riskBand, word, from }) => (
          <li key={riskBand} className="min-w-0 px-3 py-2">
            <RiskLevel riskBand={riskBand} word={word} />
            <p className="font-medium">
              <CountLink count={of(riskBand)} list={those(kind, { riskBand })} />{" "}
              <span className="text-sm font-normal text-soft">
                {of(riskBand) === 1 ? kind : plural[kind]}
              </span>
            </p>
            <p className="text-xs text-soft">{from}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
