/** Active users, and the lifecycle by week. */
import { type ReactElement, useCallback } from "react";
import { type Asked, type Reads, useRead } from "../../api/query.ts";
import {
  barSeries,
  Chart,
  categoryAxis,
  gridBelowLegend,
  legendOf,
  lineSeries,
  valueAxis,
} from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { Help } from "../../parts/figure/help.tsx";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { useFilters } from "../../parts/list/filters.ts";
import { CountLink, useListAddress } from "../../parts/list/list-link.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { filters } from "./filters.ts";
import { inSegment, usersActive, usersInStage } from "./lists.ts";

export type ActiveUsers = Reads["/api/active-users"]["answer"];
type ActiveDays = ActiveUsers["days"];
type Periods = Reads["/api/lifecycle"]["answer"]["periods"];

/** Whole days are compared: today is not over, so the last of them is yesterday. */
export function ActiveStats({ days }: { days: ActiveDays }): ReactElement {
  const today = days.at(-1);
  const last = days.at(-2);
  const before = days.at(-30);
  const weekBefore = days.at(-9);
  const whole = days.slice(0, -1);
  // An organization that began today has no whole day yet. Its figure is unknown, not zero.
  const isBegun = whole.some(({ daily }) => daily > 0);
  const counted = (value: number | undefined, withinDays: number) =>
    isBegun && last ? <CountLink isQuiet count={value} list={usersActive(last.day, withinDays)} /> : nothing;
  const change = (now: number | null | undefined, then: number | null | undefined) =>
    now == null || !then
      ? undefined
      : {
          value: numbers.shareChange(now / then - 1),
          isGood: now === then ? null : now > then,
          text: "vs 4 weeks ago",
        };
  return (
    <Stats>
      <Stat
        label="Active yesterday"
        hint="Users who were active yesterday, in the organization's timezone, compared with the same weekday a week before"
        value={counted(last?.daily, 1)}
        note={
          <>
            {isBegun && weekBefore && (
              <span className="block">
                last {dayText(weekBefore.day, "weekdayName")}{" "}
                <CountLink count={weekBefore.daily} list={usersActive(weekBefore.day)} />
              </span>
            )}
            <CountLink count={today?.daily} list={today && usersActive(today.day)} /> today so far
          </>
        }
        line={isBegun ? whole.slice(-28).map(({ daily }) => daily) : undefined}
      />
      <Stat
        label="Active in 7 days"
        hint="Users who were active in the 7 days to yesterday, compared with 28 days earlier"
        value={counted(last?.weekly, 7)}
        change={change(last?.weekly, before?.weekly)}
        line={isBegun ? whole.slice(-90).map(({ weekly }) => weekly) : undefined}
      />
      <Stat
        label="Active in 30 days"
        hint="Users who were active in the 30 days to yesterday, compared with 28 days earlier"
        value={counted(last?.monthly, 30)}
        change={change(last?.monthly, before?.monthly)}
        line={isBegun ? whole.slice(-90).map(({ monthly }) => monthly) : undefined}
      />
      <Stat
        label="Stickiness"
        hint="Users active on a day (mean of the 28 days to yesterday), as a share of users active in the 30 days to yesterday"
        value={numbers.share(last?.stickiness)}
        note={
          isBegun && last ? (
            <>
              of the <CountLink count={last.monthly} list={usersActive(last.day, 30)} /> active in 30 days are
              active on a day
            </>
          ) : (
            "of 30-day users are active on a day"
          )
        }
        line={isBegun ? whole.slice(-28).map(({ stickiness }) => stickiness ?? 0) : undefined}
      />
    </Stats>
  );
}

/** The figures at the top compare with 28 days earlier and draw 90, whatever the chart shows. */
const leastDays = 91;

/** How many days are asked for. @param shown in the chart */
export function askedDays(shown: string): number {
  return Math.max(leastDays, Number(shown));
}

/** Active users of the segment that is chosen, or of all. @param all those of all users */
export function useActiveOfSegment(all: Asked<ActiveUsers>): Asked<ActiveUsers> {
  const [{ days, segment }] = useFilters(filters);
  const ofSegment = useRead("/api/active-users", {
    query: { days: askedDays(days), ...(segment !== undefined && { segment }) },
    enabled: segment !== undefined,
    keepsPrevious: true,
  });
  return segment === undefined ? all : ofSegment;
}

/** Activity of every day, with today set apart. */
export function ActivePanel({ asked }: { asked: Asked<ActiveUsers> }): ReactElement {
  const [{ days, segment }, change] = useFilters(filters);
  return (
    <FigurePanel
      title="Active users"
      actions={
        <>
          <Help about="Active users">Users active on the day, and in the 7 days that end with it.</Help>
          <SmallSelect
            label="Days shown"
            value={days}
            choices={filters.days.choices}
            onChoose={(chosen) => change({ days: chosen })}
          />
        </>
      }
      asked={asked}
      loading={<Loading rows={1} height={260} />}
    >
      {(answer) => <ActiveChart days={answer.days} shown={Number(days)} segment={segment} />}
    </FigurePanel>
  );
}

interface ActiveChartProps {
  readonly days: ActiveDays;
  readonly shown: number;
  readonly segment: number | undefined;
}

function ActiveChart({ days, shown, segment }: ActiveChartProps): ReactElement {
  const address = useListAddress();
  const listOf = (day: string, within = 1) => inSegment(usersActive(day, within), segment);
  const drawn = days.slice(-shown);
  const option = useCallback(
    (colours: Colours) => {
      const drawn = days.slice(-shown);
      const isLast = (index: number) => index === drawn.length - 1;
      return {
        tooltip: tooltipOf(numbers.count),
        legend: legendOf(colours),
        grid: gridBelowLegend,
        xAxis: categoryAxis(
          colours,
          drawn.map(({ day }, index) => dayText(day, "short") + (isLast(index) ? ", so far" : "")),
        ),
        yAxis: valueAxis(colours, numbers.compact),
        series: [
          barSeries(
            "On the day",
            drawn.map(({ daily }, index) =>
              isLast(index) ? { value: daily, itemStyle: { opacity: 0.45 } } : daily,
            ),
            colours["series-1"],
            "25%",
          ),
          lineSeries(
            "Within 7 days",
            drawn.map(({ weekly }, index) => (isLast(index) ? null : weekly)),
            colours["series-2"],
            { width: 2 },
          ),
        ],
      };
    },
    [days, shown],
  );
  return (
    <Chart
      label={`Active users on each of the last ${shown} days`}
      option={option}
      addressOf={(_, at) => {
        const day = drawn[at];
        return day && address(listOf(day.day));
      }}
      table={{
        columns: ["Day", "On the day", "Within 7 days", "Within 30 days"],
        rows: drawn
          .toReversed()
          .map(({ day, daily, weekly, monthly }) => [
            dayText(day),
            ...([1, 7, 30] as const).map((within, at) => (
              <CountLink
                key={within}
                isQuiet
                count={[daily, weekly, monthly][at]}
                list={listOf(day, within)}
              />
            )),
          ]),
      }}
    />
  );
}

/** New, returning, resurrected and dormant users, week by week. */
export function LifecyclePanel(): ReactElement {
  const [{ segment }] = useFilters(filters);
  const asked = useRead("/api/lifecycle", {
    query: { period: "week", periods: 13, ...(segment !== undefined && { segment }) },
    keepsPrevious: true,
  });
  return (
    <FigurePanel
      title="User lifecycle"
      actions={
        <Help about="User lifecycle">
          Users by week. Above the line: active. Below: dormant, active only in the week before.
        </Help>
      }
      asked={asked}
      loading={<Loading rows={1} height={260} />}
      empty={({ periods }) =>
        periods.every(({ active, dormant }) => active + dormant === 0) && (
          <Empty title="No active users in these weeks" />
        )
      }
    >
      {({ periods }) => <LifecycleChart periods={periods} segment={segment} />}
    </FigurePanel>
  );
}

const stages = [
  { key: "returning", name: "Returning", hint: "also active in the week before", colour: "series-2" },
  { key: "new", name: "New", hint: "active for the first time", colour: "series-3" },
  { key: "resurrected", name: "Resurrected", hint: "not active in the week before", colour: "series-4" },
  { key: "dormant", name: "Dormant", hint: "active only in the week before", colour: "churned" },
] as const;

function nameOf({ fromDay, isComplete }: Periods[number], form: "short" | "medium"): string {
  return dayText(fromDay, form) + (isComplete ? "" : ", so far");
}

interface LifecycleChartProps {
  readonly periods: Periods;
  readonly segment: number | undefined;
}

function LifecycleChart({ periods, segment }: LifecycleChartProps): ReactElement {
  const address = useListAddress();
  const listOf = ({ fromDay, toDay }: Periods[number], stage?: Parameters<typeof usersInStage>[2]) =>
    inSegment(usersInStage(fromDay, toDay, stage), segment);
  const option = useCallback(
    (colours: Colours) => ({
      tooltip: tooltipOf((value) => numbers.count(Math.abs(value))),
      legend: legendOf(colours),
      grid: gridBelowLegend,
      xAxis: categoryAxis(
        colours,
        periods.map((period) => nameOf(period, "short")),
      ),
      yAxis: valueAxis(colours, numbers.compact),
      series: stages.map(({ key, name, colour }) => {
        const data = periods.map((period) => {
          const value = key === "dormant" ? -period[key] : period[key];
          return period.isComplete ? value : { value, itemStyle: { opacity: 0.45 } };
        });
        return barSeries(name, data, colours[colour], "30%", "all");
      }),
    }),
    [periods],
  );
  return (
    <Chart
      label="New, returning, resurrected and dormant users, by week"
      option={option}
      addressOf={(series, at) => {
        const [week, stage] = [periods[at], stages.find(({ name }) => name === series)];
        return week && stage && address(listOf(week, stage.key));
      }}
      table={{
        columns: ["Week from", "Active", ...stages.map(({ name, hint }) => `${name}: ${hint}`)],
        rows: periods
          .toReversed()
          .map((period) => [
            nameOf(period, "medium"),
            ...([undefined, ...stages.map(({ key }) => key)] as const).map((stage) => (
              <CountLink
                key={stage ?? "active"}
                isQuiet
                count={period[stage ?? "active"]}
                list={listOf(period, stage)}
              />
            )),
          ]),
      }}
    />
  );
}
