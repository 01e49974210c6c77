/** How healthy everybody is today. */
import { type ReactElement, useCallback } from "react";
import type { Reads } from "../../api/paths.ts";
import { useRead } from "../../api/query.ts";
import { Chart, categoryAxis, valueAxis } from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { type HealthColour, HealthShape, healthWord } from "../../parts/health.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { dayText, numbers } from "../../text/format.ts";

const days = 90;
type ActiveDays = Reads["/api/active-users"]["answer"]["days"];

export function OverviewPage(): ReactElement {
  const active = useRead("/api/active-users", { query: { days } });
  const summary = useRead("/api/score-summary");
  return (
    <>
      <PageHeader title="Overview">
        <Freshness of={active.data?.freshness} />
      </PageHeader>
      <div className="grid gap-5">
        <Figures of={active} loading={<Loading rows={1} height={84} />}>
          {(answer) => <ActiveStats days={answer.days} />}
        </Figures>
        <div className="grid gap-5 xl:grid-cols-[2fr_1fr]">
          <Panel
            title="Active users"
            note={`On each of the last ${days} days, and within the 7 that end with it`}
          >
            <Figures
              of={active}
              loading={<Loading rows={1} height={260} />}
              empty={{
                when: (answer) => answer.days.every(({ monthly }) => monthly === 0),
                show: <NoEvents />,
              }}
            >
              {(answer) => <ActiveChart days={answer.days} />}
            </Figures>
          </Panel>
          <Panel
            title="Health of users"
            note={summary.data?.day && `As of the start of ${dayText(summary.data.day)}`}
          >
            <Figures
              of={summary}
              loading={<Loading rows={5} height={28} />}
              empty={{
                when: ({ counts }) => counts.length === 0,
                show: (
                  <Empty title="No scores yet">
                    The first run is at night, or at once with <code>rekindle score</code>.
                  </Empty>
                ),
              }}
            >
              {({ counts }) => <HealthCounts counts={counts} />}
            </Figures>
          </Panel>
        </div>
      </div>
    </>
  );
}

function NoEvents(): ReactElement {
  return <Empty title="No events yet">Send the first ones: the page Start shows how.</Empty>;
}

function ActiveStats({ days }: { days: ActiveDays }): ReactElement {
  const last = days.at(-1);
  const before = days.at(-29);
  const change = (now: number | undefined, then: number | undefined) =>
    now === undefined || !then
      ? undefined
      : {
          value: numbers.shareChange(now / then - 1),
          isGood: now === then ? null : now > then,
          text: "in 4 weeks",
        };
  return (
    <Stats>
      <Stat
        label="Active today"
        value={numbers.count(last?.daily)}
        line={days.slice(-28).map(({ daily }) => daily)}
      />
      <Stat
        label="Active in 7 days"
        value={numbers.count(last?.weekly)}
        change={change(last?.weekly, before?.weekly)}
        line={days.map(({ weekly }) => weekly)}
      />
      <Stat
        label="Active in 30 days"
        value={numbers.count(last?.monthly)}
        change={change(last?.monthly, before?.monthly)}
        line={days.map(({ monthly }) => monthly)}
      />
      <Stat
        label="Stickiness"
        value={numbers.share(last?.stickiness)}
        line={days.slice(-28).map(({ stickiness }) => stickiness ?? 0)}
      />
    </Stats>
  );
}

function ActiveChart({ days }: { days: ActiveDays }): ReactElement {
  const option = useCallback(
    (colours: Colours) => ({
      tooltip: tooltipOf(numbers.count),
      xAxis: categoryAxis(
        colours,
        days.map(({ day }) => dayText(day, "short")),
      ),
      yAxis: valueAxis(colours, numbers.compact),
      series: [
        {
          name: "On the day",
          type: "bar",
          data: days.map(({ daily }) => daily),
          itemStyle: { color: colours["series-1"] },
          barCategoryGap: "30%",
        },
        {
          name: "Within 7 days",
          type: "line",
          data: days.map(({ weekly }) => weekly),
          symbol: "none",
          lineStyle: { color: colours["series-2"], width: 2 },
          itemStyle: { color: colours["series-2"] },
        },
      ],
    }),
    [days],
  );
  return (
    <Chart
      label={`Active users on each of the last ${days.length} days`}
      option={option}
      table={{
        columns: ["Day", "On the day", "Within 7 days"],
        rows: days.map(({ day, daily, weekly }) => [
          dayText(day),
          numbers.count(daily),
          numbers.count(weekly),
        ]),
      }}
    />
  );
}

const order: readonly HealthColour[] = ["healthy", "watch", "at_risk", "onboarding", "churned", "none"];

function HealthCounts({ counts }: { counts: Reads["/api/score-summary"]["answer"]["counts"] }): ReactElement {
  const of = (colour: HealthColour) =>
    counts.filter((one) => one.colour === colour).reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(1, ...order.map(of));
  const bars: Record<HealthColour, string> = {
    ...{ healthy: "bg-healthy", watch: "bg-watch", at_risk: "bg-at-risk" },
    ...{ onboarding: "bg-onboarding", churned: "bg-churned", none: "bg-edge" },
  };
  return (
    <ul className="grid gap-2.5">
      {order.map((colour) => (
        <li key={colour} className="grid grid-cols-[auto_1fr_auto] items-center gap-x-2">
          <HealthShape colour={colour} />
          <span>{healthWord(colour)}</span>
          <span className="font-medium">{numbers.count(of(colour))}</span>
          <span aria-hidden="true" className="col-span-3 mt-1 h-1 bg-sunk">
            <span
              className={`block h-full ${bars[colour]}`}
              style={{ width: `${(of(colour) / most) * 100}%` }}
            />
          </span>
        </li>
      ))}
    </ul>
  );
}
