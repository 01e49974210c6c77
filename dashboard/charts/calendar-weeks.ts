/** Days laid out as weeks, for a calendar: pure. */

export interface CalendarDay {
  readonly day: string;
  readonly events: number;
  /** 0 to 6, from the first day of the week. */
  readonly row: number;
  /** From the first week that is shown. */
  readonly column: number;
  /** 0 for a day without events, 1 to 6 from the palest to the deepest. */
  readonly step: number;
}

export interface CalendarWeeks {
  readonly days: readonly CalendarDay[];
  readonly columns: number;
  /** The column in which each month begins. */
  readonly months: readonly { readonly day: string; readonly column: number }[];
}

/** The days from the month of the first event on, because earlier months are empty. All days when there is no
 * event yet.
 * @param firstDay of the first engagement event, which passive events may precede */
export function sinceFirstMonth<Day extends { readonly day: string; readonly events: number }>(
  days: readonly Day[],
  firstDay: string | null,
): readonly Day[] {
  const firstEvent = days.find(({ events }) => events > 0)?.day;
  const first = [firstDay, firstEvent].filter((day) => day != null).sort()[0];
  if (first === undefined) return days;
  const shown = days.filter(({ day }) => day >= `${first.slice(0, 7)}-01`);
  return shown.length === 0 ? days : shown;
}

/** @param weekStart 1 Monday, 7 Sunday @param days one after the other, the oldest first */
export function calendarWeeks(
  days: readonly { readonly day: string; readonly events: number }[],
  weekStart: 1 | 7,
): CalendarWeeks {
  const bounds = stepBounds(days.map(({ events }) => events));
  const first = days[0] === undefined ? 0 : rowOf(days[0].day, weekStart);
  const placed = days.map(({ day, events }, index) => ({
    day,
    events,
    row: (first + index) % 7,
    column: Math.floor((first + index) / 7),
    step: events === 0 ? 0 : 1 + bounds.filter((bound) => events > bound).length,
  }));
  const months = placed
    .filter(({ day }, index) => day.endsWith("-01") || index === 0)
    .map(({ day, column, row }) => ({ day, column: row === 0 ? column : column + (column === 0 ? 0 : 1) }))
    .filter(
      ({ column }, index, all) => index === all.length - 1 || (all[index + 1]?.column ?? 99) - column > 2,
    );
  return { days: placed, columns: (placed.at(-1)?.column ?? -1) + 1, months };
}

function rowOf(day: string, weekStart: 1 | 7): number {
  const sunday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return weekStart === 7 ? sunday : (sunday + 6) % 7;
}

/** Five bounds between six steps: sixths of the active days, so that one very busy day does not pale all
 * others. */
function stepBounds(events: readonly number[]): number[] {
  const active = events.filter((count) => count > 0).sort((a, b) => a - b);
  return [1, 2, 3, 4, 5].map((sixth) => active[Math.floor((active.length * sixth) / 6)] ?? Infinity);
}
