/** Charts of the predictions: calibration, lift, and the actual churn of each health band. */
import { type ReactElement, useCallback } from "react";
import { Chart, categoryAxis, gridBelowLegend, legendOf, valueAxis } from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { HealthShape, healthWord } from "../../parts/figure/health.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { dayText, numbers } from "../../text/format.ts";
import { type Card, type Judged, servingResult } from "./words.ts";

type Bins = Card["reliability"];

export function ReliabilityPanel({ card }: { card: Card }): ReactElement {
  const { reliability } = card;
  return (
    <Panel
      title="Do the percentages hold?"
      note="Each dot is a tenth of the predictions. On the line, predicted and actual churn rate are equal. Above it, more churned."
    >
      <ReliabilityChart bins={reliability} />
    </Panel>
  );
}

function ReliabilityChart({ bins }: { bins: Bins }): ReactElement {
  const option = useCallback(
    (colours: Colours) => {
      const most = ceiling(
        Math.max(...bins.map(({ meanPrediction, high }) => Math.max(meanPrediction, high))),
      );
      const axis = { ...valueAxis(colours, numbers.wholeShare), min: 0, max: most };
      return {
        legend: { ...legendOf(colours), data: ["A tenth of the predictions", "As predicted"] },
        grid: { ...gridBelowLegend, left: 24, bottom: 24 },
        tooltip: { ...tooltipOf(numbers.share), trigger: "item" },
        xAxis: {
          ...axis,
          splitLine: { show: false },
          name: "Predicted",
          nameLocation: "middle",
          nameGap: 26,
          nameTextStyle: { color: colours.soft },
        },
        yAxis: {
          ...axis,
          name: "Left",
          nameLocation: "middle",
          nameGap: 44,
          nameTextStyle: { color: colours.soft },
        },
        series: reliabilitySeries(bins, most, colours),
      };
    },
    [bins],
  );
  return (
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
  );
}

/** The line on which predictions hold, each tenth's interval, and above them the tenths. */
function reliabilitySeries(bins: Bins, most: number, colours: Colours): object[] {
  const interval = { color: colours.edge, width: 1.5 };
  return [
    {
      name: "As predicted",
      type: "line",
      silent: true,
      symbol: "none",
      data: [
        [0, 0],
        [most, most],
      ],
      lineStyle: { color: colours.soft, type: "dashed", width: 1 },
      itemStyle: { color: colours.soft },
    },
    ...bins.map(({ meanPrediction, low, high }, index) => ({
      name: `interval ${index}`,
      type: "line",
      silent: true,
      symbol: "none",
      data: [
        [meanPrediction, low],
        [meanPrediction, Math.min(high, most)],
      ],
      lineStyle: interval,
      itemStyle: interval,
    })),
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
          {
            name: "Left",
            type: "bar",
            barCategoryGap: "25%",
            itemStyle: { color: colours["series-1"] },
            data: tenths.map(({ rate }) => rate),
          },
          {
            name: "Base rate",
            type: "line",
            symbol: "none",
            data: tenths.map(() => baseRate),
            lineStyle: { color: colours.soft, type: "dashed", width: 1.5 },
            itemStyle: { color: colours.soft },
          },
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
export function RealisedPanel({ card: { realised, horizonDays, kind, day } }: { card: Card }): ReactElement {
  const most = Math.max(0.01, ...realised.map(({ high }) => high));
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
              <th scope="col" className="py-1 font-normal">
                Health band
              </th>
              <th scope="col" className="py-1 text-right font-normal">
                Left
              </th>
              <th scope="col" className="py-1 pl-3 text-right font-normal">
                Of
              </th>
              <th scope="col" className="py-1 pl-3 text-right font-normal">
                Share
              </th>
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
      {realised.length > 0 && day !== null && (
        <p className="mt-2 text-sm text-soft">
          From stored scores up to {horizonDays} days before {dayText(day)}: what was shown then, beside what
          happened.
        </p>
      )}
    </Panel>
  );
}
