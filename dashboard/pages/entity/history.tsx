/** Scores over time. Changes of settings, exclusions and the model are marked. */
import type { EChartsCoreOption } from "echarts/core";
import { type ReactElement, useCallback, useMemo } from "react";
import type { Asked, Reads } from "../../api/query.ts";
import { Chart, gridWithin, valueAxis } from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { earlierScoresText } from "../../parts/figure/freshness.tsx";
import { healthWord } from "../../parts/figure/health.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { useFilters } from "../../parts/list/filters.ts";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { dayText, numbers } from "../../text/format.ts";
import { filters } from "./filters.ts";
import { type HistoryMark, historyMarks, type ModelChange } from "./history-marks.ts";

type History = Reads["/api/users/:userId/score/history"]["answer"];
type Days = History["days"];

/** A note while earlier days are not scored yet. */
export function ScoringEarlier({
  progress,
}: {
  progress: History["freshness"]["earlierScores"];
}): ReactElement | null {
  if (progress === null) return null;
  return (
    <p role="status" className="mb-2 text-sm text-watch">
      Incomplete: {earlierScoresText(progress)}. The newest days appear first.
    </p>
  );
}

interface HistoryPanelProps {
  readonly asked: Asked<History>;
  /** Changes of the model. Empty until they are known. */
  readonly models: readonly ModelChange[];
  readonly what: "user" | "account";
}

export function HistoryPanel({ asked, models, what }: HistoryPanelProps): ReactElement {
  const [{ range }, choose] = useFilters(filters);
  return (
    <FigurePanel
      title="History"
      note="Scores as shown on each day. Dotted lines: healthy from 70, watch from 40. Vertical lines mark settings changes."
      actions={
        <SmallSelect
          label="Days of the history"
          value={range}
          onChoose={(to) => choose({ range: to })}
          choices={filters.range.choices}
        />
      }
      asked={asked}
      loading={<Loading rows={1} height={260} />}
      empty={({ days }) =>
        days.length === 0 && <Empty title="No scores yet">Scores are computed every night.</Empty>
      }
    >
      {(history) => (
        <>
          <ScoringEarlier progress={history.freshness.earlierScores} />
          <HistoryChart history={history} models={models} what={what} />
        </>
      )}
    </FigurePanel>
  );
}

function HistoryChart({
  history,
  models,
  what,
}: {
  history: History;
  models: readonly ModelChange[];
  what: string;
}): ReactElement {
  const marks = useMemo(() => historyMarks(history, models), [history, models]);
  const option = useCallback((colours: Colours) => optionOf(history.days, marks, colours), [history, marks]);
  return (
    <>
      <Chart
        label={labelOf(history.days, what)}
        option={option}
        table={{
          columns: ["Day", "Health", "", "Engagement", "Churn risk", "Momentum"],
          rows: [...history.days]
            .reverse()
            .map(({ day, health, healthBand, engagement, risk, momentum }) => [
              dayText(day),
              numbers.scoreTenths(health),
              healthWord(healthBand),
              numbers.scoreTenths(engagement),
              numbers.riskTenths(risk),
              numbers.scoreTenths(momentum),
            ]),
        }}
      />
      {marks.length > 0 && (
        <ol aria-label="Changes of rules" className="mt-3 grid gap-1 text-sm">
          {marks.map(({ letter, day, texts }) => (
            <li key={letter} className="flex gap-2">
              <span className="size-5 shrink-0 rounded border border-edge text-center leading-[1.125rem] font-medium">
                {letter}
              </span>
              <span>
                <span className="text-soft">{dayText(day)}</span> {texts.join("; ")}
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function labelOf(days: Days, what: string): string {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return "";
  const said = last.health === null ? "" : `, health ${numbers.score(last.health)} on the last day`;
  return `Scores of this ${what} from ${dayText(first.day)} to ${dayText(last.day)}${said}`;
}

function optionOf(days: Days, marks: readonly HistoryMark[], colours: Colours): EChartsCoreOption {
  const line = (name: string, colour: string, of: (day: Days[number]) => number | null, isMain = false) => ({
    name,
    type: "line",
    data: days.map((day) => [Date.parse(`${day.day}T00:00:00Z`), of(day)]),
    showSymbol: days.length === 1,
    symbolSize: 6,
    lineStyle: {
      color: colour,
      width: isMain ? 2.5 : 1.5,
      type: name === "Churn risk, %" ? "dashed" : "solid",
    },
    itemStyle: { color: colour },
  });
  const rule = (at: number) => ({
    yAxis: at,
    label: { show: false },
    lineStyle: { color: colours.edge, type: [3, 5], width: 1.5 },
  });
  return {
    tooltip: tooltipOf(numbers.scoreTenths, (_, value) =>
      Array.isArray(value) ? dayText(new Date(Number(value[0])).toISOString().slice(0, 10)) : "",
    ),
    legend: {
      bottom: 0,
      left: 0,
      itemWidth: 18,
      itemHeight: 8,
      icon: "roundRect",
      textStyle: { color: colours.soft },
    },
    grid: gridWithin({ right: 14, top: 22, bottom: 30 }),
    useUTC: true,
    xAxis: timeAxis(colours),
    yAxis: { ...valueAxis(colours, numbers.count), min: 0, max: 100, interval: 25 },
    series: [
      {
        ...line("Health", colours.ink, ({ health }) => health, true),
        markLine: {
          silent: true,
          symbol: "none",
          animation: false,
          data: [
            rule(70),
            rule(40),
            ...marks.map(({ letter, day }) => ({
              xAxis: Date.parse(`${day}T00:00:00Z`),
              label: { formatter: letter, color: colours.ink, fontWeight: 600, position: "end", distance: 4 },
              lineStyle: { color: colours.ember, type: "solid", width: 1 },
            })),
          ],
        },
      },
      line("Engagement", colours["series-2"], ({ engagement }) => engagement),
      line("Churn risk, %", colours["series-1"], ({ risk }) => (risk === null ? null : 100 * risk)),
    ],
  };
}

function timeAxis(colours: Colours): object {
  return {
    type: "time",
    axisLine: { lineStyle: { color: colours.line } },
    axisTick: { show: false },
    splitLine: { show: false },
    splitNumber: 5,
    axisLabel: {
      color: colours.soft,
      hideOverlap: true,
      formatter: (ms: number) => dayText(new Date(ms).toISOString().slice(0, 10), "short"),
    },
  };
}
