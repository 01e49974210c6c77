/** A year of days, each as dark as it was busy: a column is a week. The same figures are there as a table. */
import { type ReactElement, useEffect, useRef } from "react";
import { Scrollable } from "../parts/list/scrollable.tsx";
import { counted, dayText, numbers } from "../text/format.ts";
import { calendarWeeks, sinceFirstMonth } from "./calendar-weeks.ts";
import { TableOf } from "./chart.tsx";

const cell = 13;
const gap = 2;
const left = 30;
const top = 18;

interface CalendarProps {
  /** The drawing's name: its content, with the main finding. */
  readonly label: string;
  readonly days: readonly { readonly day: string; readonly events: number; readonly users?: number }[];
  readonly weekStart: 1 | 7;
  /** Days before it are drawn as such: nothing could be done yet. */
  readonly firstDay: string | null;
}

export function Calendar({ label, days, weekStart, firstDay }: CalendarProps): ReactElement {
  const shown = sinceFirstMonth(days, firstDay);
  const weeks = calendarWeeks(shown, weekStart);
  const scroller = useRef<HTMLElement>(null);
  // The newest days are the ones that are looked for.
  // biome-ignore lint/correctness/useExhaustiveDependencies: other days are another place to begin
  useEffect(() => {
    scroller.current?.scrollTo({ left: scroller.current.scrollWidth });
  }, [days]);
  const pitch = cell + gap;
  const width = left + weeks.columns * pitch;
  const height = top + 7 * pitch;
  const isBefore = (day: string) => firstDay === null || day < firstDay;
  return (
    <figure className="min-w-0">
      <Scrollable ref={scroller} label="Days of the calendar" className="overflow-x-auto pb-1">
        <svg
          role="img"
          aria-label={label}
          viewBox={`0 0 ${width} ${height}`}
          style={{ width: "100%", minWidth: width, maxWidth: width * 1.35 }}
          className="block text-xs"
        >
          {weeks.months.map(({ day, column }) => (
            <text key={day} x={left + column * pitch} y={11} fontSize="10" fill="var(--color-soft)">
              {dayText(day, "monthName")}
            </text>
          ))}
          {weeks.days.slice(0, 14).map(({ day, row, column }) =>
            column === (weeks.days[0]?.row === 0 ? 0 : 1) && row % 2 === 0 ? (
              <text key={day} x={0} y={top + row * pitch + 10} fontSize="10" fill="var(--color-soft)">
                {dayText(day, "weekday")}
              </text>
            ) : null,
          )}
          {weeks.days.map(({ day, events, row, column, step }) => (
            <rect
              key={day}
              x={left + column * pitch + 0.5}
              y={top + row * pitch + 0.5}
              width={cell - 1}
              height={cell - 1}
              rx="2"
              fill={isBefore(day) ? "transparent" : `var(--heat-${step})`}
              stroke={step > 0 ? "transparent" : "var(--color-line)"}
              strokeOpacity={isBefore(day) ? 0.45 : 1}
            >
              <title>
                {`${dayText(day, "long")}: ${isBefore(day) ? "before the first event" : eventsText(events)}`}
              </title>
            </rect>
          ))}
        </svg>
      </Scrollable>
      <div className="mt-1 flex flex-wrap items-center justify-between gap-x-4 gap-y-1 text-sm text-soft">
        <details className="min-w-0">
          <summary className="inline-block hover:text-ink">Show as a table</summary>
          <TableOf
            label={label}
            columns={["Day", "Events", ...(days[0]?.users === undefined ? [] : ["Users"])]}
            rows={days
              .filter(({ events }) => events > 0)
              .reverse()
              .map(({ day, events, users }) => [
                dayText(day),
                numbers.count(events),
                ...(users === undefined ? [] : [numbers.count(users)]),
              ])}
          />
        </details>
        <span className="flex items-center gap-1" aria-hidden="true">
          fewer
          {[0, 1, 2, 3, 4, 5, 6].map((step) => (
            <span key={step} className={`heat-${step} size-3 rounded border border-line`} />
          ))}
          more
        </span>
      </div>
    </figure>
  );
}

function eventsText(events: number): string {
  if (events === 0) return "no event";
  return counted(events, "event");
}
