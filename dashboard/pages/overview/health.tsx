/** Health of users or accounts: now, by week, and movement between bands. */
import { type ReactElement, useCallback, useState } from "react";
import { type Asked, type Reads, useRead } from "../../api/query.ts";
import { barSeries, Chart, categoryAxis, gridBelowLegend, legendOf, valueAxis } from "../../charts/chart.tsx";
import type { Colours } from "../../charts/colours.ts";
import { tooltipOf } from "../../charts/tooltip.ts";
import { BothLabels } from "../../parts/figure/both-labels.tsx";
import { type HealthBand, HealthShape, healthWord } from "../../parts/figure/health.tsx";
import { Help } from "../../parts/figure/help.tsx";
import { Icon } from "../../parts/icons.tsx";
import { BarPart, CountLink, useListAddress } from "../../parts/list/list-link.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { useToday } from "../../parts/time.tsx";
import { dayPlus, daysBetween, dayText, nothing, numbers } from "../../text/format.ts";
import { type Kind, plural, useScoredSegment } from "./filters.ts";
import { thoseMoved, thoseNow, thoseOn, thoseWent } from "./lists.ts";

export type HealthByWeek = Reads["/api/health-by-week"]["answer"];
type Week = HealthByWeek["weeks"][number];
type Movement = Reads["/api/score-summary"]["answer"]["movement"];

/** Health bands of users who have not churned, the worst last. */
const there = [
  { healthBand: "healthy", key: "healthy", bar: "bg-healthy-fill", line: "healthy-fill" },
  { healthBand: "watch", key: "watch", bar: "bg-watch-fill", line: "watch-fill" },
  { healthBand: "at_risk", key: "atRisk", bar: "bg-at-risk-fill", line: "at-risk-fill" },
  { healthBand: "onboarding", key: "onboarding", bar: "bg-onboarding-fill", line: "onboarding-fill" },
] as const;

const churned = { healthBand: "churned", key: "churned" } as const;

/** How many have not churned. */
export const sizeOf = (week: Week) => there.reduce((sum, { key }) => sum + week[key], 0);

export function NoScores({ kind }: { kind: Kind }): ReactElement {
  const { segment } = useScoredSegment();
  if (segment !== undefined) return <Empty title={`No ${kind} of the segment has scores`} />;
  return (
    <Empty title={`No scores of ${plural[kind]} yet`}>
      {kind === "account"
        ? "Accounts appear once your application identifies users together with their accounts."
        : "Users are scored every night."}
    </Empty>
  );
}

interface HealthPanelProps {
  readonly kind: Kind;
  readonly asked: Asked<HealthByWeek>;
  /** With the figures of the bands, and who moved between them. */
  readonly isWhole: boolean;
}

export function HealthPanel({ kind, asked, isWhole }: HealthPanelProps): ReactElement {
  const { data } = asked;
  const { segment } = useScoredSegment();
  const whose = segment === undefined ? "" : ". All weeks count the segment’s current members";
  return (
    <FigurePanel
      title={`Health of ${plural[kind]}`}
      note={
        data?.day && (isWhole || segment !== undefined)
          ? `As of the start of ${dayText(data.day)}${whose}`
          : undefined
      }
      actions={<HealthHelp kind={kind} />}
      asked={asked}
      loading={<Loading rows={8} height={28} />}
      empty={({ weeks }) => weeks.length === 0 && <NoScores kind={kind} />}
    >
      {({ weeks, ...churn }) => {
        const now = weeks.at(-1);
        return (
          now && (
            <div className="grid gap-5">
              {isWhole && <Distribution kind={kind} weeks={weeks} now={now} />}
              {isWhole && <BothLabels kind={kind} answer={{ weeks, ...churn }} />}
              {(weeks.length > 1 || !isWhole) && (
                <WeeksChart kind={kind} weeks={weeks} hasLegend={!isWhole} />
              )}
              {isWhole && <Moves kind={kind} />}
            </div>
          )
        );
      }}
    </FigurePanel>
  );
}

/** The share of each health band that churned, which says what the bands are worth. */
function HealthHelp({ kind }: { kind: Kind }): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const { data } = useRead("/api/model", { query: { kind }, enabled: isOpen });
  const judged = there.flatMap(({ healthBand }) => {
    const found = data?.realised.find((each) => each.healthBand === healthBand);
    return found === undefined ? [] : [found];
  });
  return (
    <Help about={`Health of ${plural[kind]}`} isOpen={isOpen} onOpenChange={setOpen}>
      <p>100 is best. Healthy from 70, watch from 40, at risk below.</p>
      {data !== undefined && (
        <p>
          {judged.length === 0
            ? `How many of each band churn is known once scores are ${data.horizonDays} days old.`
            : `Churned within ${data.horizonDays} days, by the band before:`}
        </p>
      )}
      <ul>
        {judged.map(({ healthBand, rate, churned: left, count }) => (
          <li key={healthBand} className="flex items-center gap-1.5">
            <HealthShape healthBand={healthBand} />
            {healthWord(healthBand)} {numbers.share(rate)}, {numbers.count(left)} of {numbers.count(count)}
          </li>
        ))}
      </ul>
      {data?.leadsWithRisk === true && (
        <p>The bands do not tell who leaves, so churn risk comes first on pages and in lists.</p>
      )}
    </Help>
  );
}

function Distribution({ kind, weeks, now }: { kind: Kind; weeks: readonly Week[]; now: Week }): ReactElement {
  const size = sizeOf(now);
  const ago = (count: number) => weeks.find(({ day }) => Math.floor(daysBetween(day, now.day) / 7) === count);
  const [lastWeek, lastMonth] = [ago(1), ago(4)];
  const columns = [
    { label: "vs last week", past: lastWeek, byRules: useNetByRules(kind, lastWeek?.day) },
    { label: "vs 4 weeks ago", past: lastMonth, byRules: useNetByRules(kind, lastMonth?.day) },
  ];
  const headers: readonly { readonly label: string; readonly title?: string | undefined }[] = [
    { label: "Health band" },
    { label: "Now" },
    { label: "Share", title: `Of ${numbers.count(size)} ${plural[kind]} who have not churned` },
    ...columns.map(({ label, past }) => ({
      label,
      title: past && `Compared with the start of ${dayText(past.day)}`,
    })),
  ];
  return (
    <div>
      {/* The table has the same links for keyboards and screen readers. */}
      <div aria-hidden="true" className="flex h-3 gap-px overflow-hidden rounded-[2px]">
        {there.map(({ healthBand, key, bar }) => (
          <BarPart
            key={healthBand}
            list={thoseNow(kind, healthBand)}
            share={size === 0 ? 0 : now[key] / size}
            className={bar}
          />
        ))}
      </div>
      <table className="mt-2 w-full">
        <caption className="sr-only">Health of {plural[kind]}, and how it changed</caption>
        <thead>
          <tr className="text-left text-sm text-soft">
            {headers.map(({ label, title }) => (
              <th
                key={label}
                scope="col"
                className="py-1 pl-3 text-right align-bottom font-normal first:pl-0 first:text-left"
                title={title}
              >
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...there, churned].map(({ healthBand, key }) => (
            <tr key={healthBand} className="border-t border-line">
              <th scope="row" className="py-1.5 text-left font-normal">
                <span className="inline-flex items-center gap-2">
                  <HealthShape healthBand={healthBand} />
                  {healthWord(healthBand)}
                </span>
              </th>
              <td className="py-1.5 pl-3 text-right font-medium">
                <CountLink count={now[key]} list={thoseNow(kind, healthBand)} />
              </td>
              <td className="py-1.5 pl-3 text-right text-soft">
                {healthBand === "churned" || size === 0 ? nothing : numbers.wholeShare(now[key] / size)}
              </td>
              {columns.map(({ label, past, byRules }) => (
                <td key={label} className="py-1.5 pl-3 text-right text-soft">
                  {past === undefined ? nothing : changeText(now[key] - past[key] - byRules(healthBand))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const changeText = (change: number) => (change === 0 ? "±0" : numbers.change(change));

/** How many more are in a health band than on an earlier day only because the model, the scale or the
 * settings changed. */
function useNetByRules(kind: Kind, since: string | undefined): (healthBand: string) => number {
  const query = { kind, ...(since !== undefined && { since }), ...useScoredSegment() };
  const { data } = useRead("/api/score-summary", { query, enabled: since !== undefined });
  return (healthBand) =>
    (data?.movement ?? []).reduce(
      (net, { from, to, byRules }) =>
        net + (Number(to === healthBand) - Number(from === healthBand)) * byRules,
      0,
    );
}

interface WeeksChartProps {
  readonly kind: Kind;
  readonly weeks: readonly Week[];
  /** Where no table beside it names the colours. */
  readonly hasLegend: boolean;
}

function WeeksChart({ kind, weeks, hasLegend }: WeeksChartProps): ReactElement {
  const address = useListAddress();
  const newest = weeks.at(-1)?.day;
  const behind = (day: string, healthBand: HealthBand) =>
    day === newest ? thoseNow(kind, healthBand) : thoseOn(kind, day, healthBand);
  const option = useCallback(
    (colours: Colours) => ({
      tooltip: tooltipOf(numbers.count),
      ...(hasLegend && { legend: legendOf(colours), grid: gridBelowLegend }),
      xAxis: categoryAxis(
        colours,
        weeks.map(({ day }) => dayText(day, "short")),
      ),
      yAxis: valueAxis(colours, numbers.compact),
      series: there.map(({ healthBand, key, line }) => {
        const data = weeks.map((week) => week[key]);
        return barSeries(healthWord(healthBand), data, colours[line], "18%", "health");
      }),
    }),
    [weeks, hasLegend],
  );
  return (
    <Chart
      label={`Health of ${plural[kind]} who have not churned, week by week`}
      height={180}
      option={option}
      addressOf={(series, at) => {
        const [week, shown] = [weeks[at], there.find(({ healthBand }) => healthWord(healthBand) === series)];
        return week && shown && address(behind(week.day, shown.healthBand));
      }}
      table={{
        columns: ["As of", ...there.map(({ healthBand }) => healthWord(healthBand)), healthWord("churned")],
        rows: weeks
          .toReversed()
          .map((week) => [
            dayText(week.day),
            ...[...there, churned].map(({ healthBand, key }) => (
              <CountLink key={key} isQuiet count={week[key]} list={behind(week.day, healthBand)} />
            )),
          ]),
      }}
    />
  );
}

const shownMoves = 6;

/** How many went from which health band to which within a week. */
function Moves({ kind }: { kind: Kind }): ReactElement | null {
  const since = dayPlus(useToday(), -7);
  const { data } = useRead("/api/score-summary", { query: { kind, since, ...useScoredSegment() } });
  if (data == null || data.sinceDay === null) return null;
  const moved = movesOf(data.movement);
  const byRules = data.movement.reduce((sum, each) => sum + each.byRules, 0);
  const { sinceDay } = data;
  const all = moved.reduce((sum, { count }) => sum + count, 0);
  return (
    <section aria-label="Movement">
      <h3 className="text-sm text-soft">
        <CountLink count={all} list={thoseMoved(kind, "changed", sinceDay)} /> {plural[kind]} changed their
        health band since {dayText(data.sinceDay, "short")}
        {moved.length > shownMoves && "; the most frequent moves"}
      </h3>
      {byRules > 0 && (
        <p className="text-sm text-soft">
          {numbers.count(byRules)} more only because the model, the scale or the settings changed
        </p>
      )}
      <ul className="mt-1 grid gap-x-6 sm:grid-cols-2">
        {moved.slice(0, shownMoves).map(({ from, to, count }) => (
          <li key={`${from} ${to}`} className="flex items-center gap-1.5 border-t border-line py-1 text-sm">
            <HealthShape healthBand={from} />
            {healthWord(from)}
            <Icon name="right" size={12} className="text-soft" />
            <span className="sr-only">to</span>
            <HealthShape healthBand={to} />
            {healthWord(to)}
            <span className="ml-auto font-medium">
              <CountLink count={count} list={thoseWent(kind, sinceDay, from, to)} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Moves from one band to another that were the customers' own, the most frequent first. */
function movesOf(movement: Movement) {
  return movement
    .flatMap(({ from, to, count, byRules }) =>
      from === null || to === null || from === to || count === byRules
        ? []
        : [{ from, to, count: count - byRules }],
    )
    .sort((a, b) => b.count - a.count);
}
