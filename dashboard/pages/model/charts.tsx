/** Charts of the predictions: calibration, lift, and the actual churn of each health band. */
import { type ReactElement, useCallback } from "react";
import {
  barSeries,
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
import { HealthShape, healthWord } from "../../parts/figure/health.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { dayText, numbers } from "../../text/format.ts";
import { type Card, type Judged, servingResult } from "./words.ts";

type Bins = Card["reliability"];

export function ReliabilityPanel({ card: { reliability: bins } }: { card: Card }): ReactElement {
  const option = useCallback(
    (colours: Colours) => {
      const most = ceiling(
        Math.max(...bins.map(({ meanPrediction, high }) => Math.max(meanPrediction, high))),
      );
      const axis = (name: string, nameGap: number) => ({
        ...valueAxis(colours, numbers.wholeShare),
        min: 0,
        max: most,
        name,
        nameLocation: "middle",
        nameGap,
        nameTextStyle: { color: colours.soft },
      });
      return {
        legend: { ...legendOf(colours), data: ["A tenth of the predictions", "As predicted"] },
        grid: { ...gridBelowLegend, left: 24, bottom: 24 },
        tooltip: { ...tooltipOf(numbers.share), trigger: "item" },
        xAxis: { ...axis("Predicted", 26), splitLine: { show: false } },
        yAxis: axis("Left", 44),
        series: reliabilitySeries(bins, most, colours),
      };
    },
    [bins],
  );
  return (
    <Panel
      title="Do the percentages hold?"
      note="Each dot is a tenth of the predictions. On the line, predicted and actual churn rate are equal. Above it, more churned."
    >
      <Chart
        label="Predicted and actual churn rate, by tenths of the predictions"
        height={300}
        option={option}
        table={{
          columns: ["Predicted", "Left", "95% interval", "Judged"],
          rows: bins.map(({ meanPrediction, rate, low, high, count }) => [
            numbers.share(meanPrediction),
            numbers.share(rate),
            `${numbers.share(low)} to ${numbers.share(high)}`,
            numbers.count(count),
          ]),
        }}
      />
    </Panel>
  );
}

/** The line on which predictions hold, each tenth's interval, and above them the tenths. */
function reliabilitySeries(bins: Bins, most: number, colours: Colours): object[] {
  type Point = readonly [number, number];
  const line = (name: string, from: Point, to: Point, colour: string, style: object) => ({
    ...lineSeries(name, [from, to], colour, style),
    silent: true,
  });
  return [
    line("As predicted", [0, 0], [most, most], colours.soft, { type: "dashed", width: 1 }),
    ...bins.map(({ meanPrediction: at, low, high }, index) =>
      line(`interval ${index}`, [at, low], [at, Math.min(high, most)], colours.edge, { width: 1.5 }),
    ),
    {
      name: "A tenth of the predictions",
      type: "scatter",
      symbolSize: 9,
      data: bins.map(({ meanPrediction, rate }) => ({
        name: `Predicted ${numbers.share(meanPrediction)}`,
        value: [meanPrediction, rate],
      })),
      itemStyle: { color: colours["series-1"] },
      z: 5,
    },
  ];
}

/** A round number of tenths above a share. */
const ceiling = (share: number) => Math.min(1, Math.ceil(share * 10 + 1e-9) / 10);

export function LiftPanel({ card }: { card: Card }): ReactElement {
  const result = servingResult(card);
  return (
    <Panel
      title={`Does it find ${card.kind}s that leave?`}
      note="The actual churn rate of each tenth, from the highest predicted risk to the lowest"
    >
      {result !== undefined && <LiftChart bins={card.reliability} result={result} />}
    </Panel>
  );
}

function LiftChart({ bins, result: { baseRate } }: { bins: Bins; result: Judged }): ReactElement {
  const option = useCallback(
    (colours: Colours) => {
      const tenths = bins.toReversed();
      return {
        legend: legendOf(colours),
        grid: gridBelowLegend,
        tooltip: tooltipOf(numbers.share),
        xAxis: everyLabel(categoryAxis(colours, tenths.map(tenthName)), colours),
        yAxis: { ...valueAxis(colours, numbers.wholeShare), min: 0 },
        series: [
          barSeries(
            "Left",
            tenths.map(({ rate }) => rate),
            colours["series-1"],
            "25%",
          ),
          baseRateSeries(
            colours,
            tenths.map(() => baseRate),
          ),
        ],
      };
    },
    [bins, baseRate],
  );
  return (
    <Chart
      label="The actual churn rate, by tenths of the predicted risk"
      height={300}
      option={option}
      table={{
        columns: ["Tenth by risk", "Left", "Times the base rate", "Judged"],
        rows: bins
          .toReversed()
          .map(({ rate, count }, index) => [
            tenthName(undefined, index),
            numbers.share(rate),
            baseRate === 0 ? "–" : `${numbers.decimal(rate / baseRate)} ×`,
            numbers.count(count),
          ]),
      }}
    />
  );
}

function everyLabel(axis: object, { soft }: Colours): object {
  return { ...axis, axisLabel: { color: soft, interval: 0, hideOverlap: true } };
}

const tenthName = (_: unknown, index: number) =>
  index === 0 ? "highest" : index === 9 ? "lowest" : `${index + 1}`;

const bars = {
  healthy: "bg-healthy-fill",
  watch: "bg-watch-fill",
  at_risk: "bg-at-risk-fill",
  onboarding: "bg-onboarding-fill",
  churned: "bg-churned",
  none: "bg-edge",
} as const;

/** The actual churn of each health band, from stored scores. */
export function RealisedPanel({ card }: { card: Card }): ReactElement {
  const { realised, horizonDays, kind, day, leadsWithRisk } = card;
  const most = Math.max(0.01, ...realised.map(({ high }) => high));
  const sumOf = (one: "churned" | "involuntary") => realised.reduce((sum, row) => sum + row[one], 0);
  return (
    <Panel
      title="Actual churn by health band"
      note={`${kind === "user" ? "Users" : "Accounts"} that churned within ${horizonDays} days, by their health band before. The thin line is the 95% interval.`}
    >
      {realised.length === 0 ? (
        <Empty title="Not enough data yet">
          {day === null
            ? "There are no scores yet."
            : `This needs scores that are at least ${horizonDays} days old.`}
        </Empty>
      ) : (
        <table className="w-full">
          <thead>
            <tr className="text-left text-sm text-soft">
              {["Health band", "Left", "Of", "Share"].map((header) => (
                <th
                  key={header}
                  scope="col"
                  className="py-1 pl-3 text-right font-normal nth-[-n+2]:pl-0 first:text-left"
                >
                  {header}
                </th>
              ))}
              <th scope="col" className="hidden w-1/2 py-1 sm:table-cell">
                <span className="sr-only">95% interval</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {realised.map(({ healthBand, count, churned, rate, low, high }) => (
              <tr key={healthBand} className="border-t border-line">
                <th scope="row" className="py-2 text-left font-normal">
                  <span className="inline-flex items-center gap-2 whitespace-nowrap">
                    <HealthShape healthBand={healthBand} />
                    {healthWord(healthBand)}
                  </span>
                </th>
                <td className="py-2 text-right">{numbers.count(churned)}</td>
                <td className="py-2 pl-3 text-right text-soft">{numbers.count(count)}</td>
                <td className="py-2 pl-3 text-right font-medium">{numbers.share(rate)}</td>
                <td className="hidden py-2 pl-4 sm:table-cell">
                  <span className="sr-only">
                    {numbers.share(low)} to {numbers.share(high)}
                  </span>
                  <span
                    aria-hidden="true"
                    className="relative block h-3"
                    title={`${numbers.share(low)} to ${numbers.share(high)}`}
                  >
                    <span
                      className={`absolute inset-y-0 left-0 ${bars[healthBand]}`}
                      style={{ width: `${(rate / most) * 100}%` }}
                    />
                    <span
                      className="absolute top-1/2 h-px bg-ink"
                      style={{ left: `${(low / most) * 100}%`, width: `${((high - low) / most) * 100}%` }}
                    />
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {leadsWithRisk && (
        <p className="mt-2 text-sm text-watch">
          In the last two trainings the healthier bands did not lose fewer {kind}s (one-sided trend test at
          .1). So lists and cards lead with churn risk.
        </p>
      )}
      {sumOf("involuntary") > 0 && (
        <p className="mt-2 text-sm text-soft">
          Failed payments ended the subscriptions of {numbers.count(sumOf("involuntary"))} of the{" "}
          {numbers.count(sumOf("churned"))} that churned.
        </p>
      )}
      {realised.length > 0 && day !== null && (
        <p className="mt-2 text-sm text-soft">
          From stored scores up to {horizonDays} days before {dayText(day)}: what was shown then, beside what
          happened.
        </p>
      )}
    </Panel>
  );
}
