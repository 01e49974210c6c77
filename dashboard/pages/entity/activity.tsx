/** The activity calendar of a year. */
import type { ReactElement } from "react";
import { type Asked, useRead } from "../../api/query.ts";
import { Calendar } from "../../charts/calendar.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { useFilters } from "../../parts/list/filters.ts";
import { FigurePanel, Loading } from "../../parts/states.tsx";
import { useToday } from "../../parts/time.tsx";
import { counted, daysBetween, numbers } from "../../text/format.ts";
import { filters } from "./filters.ts";

/** The range to request for a year: its days until today. */
export function daysOfYear(year: string, today: string): { days: number; to: string } {
  if (!/^\d{4}$/.test(year) || year > today.slice(0, 4)) return { days: 365, to: today };
  const end = `${year}-12-31` < today ? `${year}-12-31` : today;
  return { days: daysBetween(`${year}-01-01`, end) + 1, to: end };
}

interface ActivityPanelProps {
  readonly asked: Asked<{ readonly days: readonly { day: string; events: number; users?: number }[] }>;
  readonly firstDay: string | null | undefined;
}

export function ActivityPanel({ asked, firstDay }: ActivityPanelProps): ReactElement {
  const [{ year }, choose] = useFilters(filters);
  const today = useToday();
  const settings = useRead("/api/settings");
  return (
    <FigurePanel
      title="Activity"
      note="Events by day, passive ones included, in the organization's timezone."
      actions={
        <SmallSelect
          label="Year of the calendar"
          value={year}
          onChoose={(to) => choose({ year: to })}
          choices={[{ value: "", label: "Last 365 days" }, ...yearsSince(firstDay ?? today, today)]}
        />
      }
      asked={asked}
      loading={<Loading rows={1} height={150} />}
    >
      {(activity) => (
        <Calendar
          label={labelOf(activity.days)}
          days={activity.days}
          weekStart={settings.data?.settings.weekStart ?? 1}
          firstDay={firstDay ?? null}
        />
      )}
    </FigurePanel>
  );
}

function yearsSince(firstDay: string, today: string) {
  const [first, last] = [Number(firstDay.slice(0, 4)), Number(today.slice(0, 4))];
  return Array.from({ length: Math.min(100, last - first + 1) }, (_, index) => {
    const year = String(last - index);
    return { value: year, label: year };
  });
}

function labelOf(all: readonly { events: number }[]): string {
  const active = all.filter(({ events }) => events > 0).length;
  const events = all.reduce((sum, day) => sum + day.events, 0);
  return `Calendar: active on ${counted(active, "day")} of ${numbers.count(all.length)}, ${counted(events, "event")}`;
}
