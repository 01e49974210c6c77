/** Every figure counted again from what was sent: one event after the other, with sets and a calendar. */
import { type Happening, msPerDay, type World } from "./world.ts";

export interface PeriodOptions {
  readonly period: "day" | "week" | "month";
  readonly periods: number;
  readonly weekStart: 1 | 7;
  readonly toDay: number;
}

/** `2026-03-01` */
export function dateOf(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

/** The users with any event from one day to another. */
export function usersWithin(events: readonly Happening[], fromDay: number, toDay: number): Set<string> {
  return new Set(events.filter(({ day }) => day >= fromDay && day <= toDay).map(({ userId }) => userId));
}

/** The calendar's periods, found by walking back day by day. */
function periodsOf({ period, periods, weekStart, toDay }: PeriodOptions) {
  const begins = (day: number) => {
    const date = new Date(day * msPerDay);
    if (period === "month") return date.getUTCDate() === 1;
    return period === "day" || date.getUTCDay() === weekStart % 7;
  };
  const found: { fromDay: number; endDay: number }[] = [];
  let end = toDay;
  while (!begins(end + 1)) end += 1;
  for (let from = end; found.length < periods; from -= 1) {
    if (!begins(from)) continue;
    found.unshift({ fromDay: from, endDay: end });
    end = from - 1;
  }
  return found;
}

function columnsOf({ fromDay, endDay }: { fromDay: number; endDay: number }, toDay: number) {
  return {
    fromDay: dateOf(fromDay),
    toDay: dateOf(Math.min(endDay, toDay)),
    isComplete: endDay <= toDay,
  };
}

export function lifecycleRecount({ engagement: events }: World, options: PeriodOptions) {
  const { toDay } = options;
  const until = events.filter(({ day }) => day <= toDay);
  const all = periodsOf({ ...options, periods: options.periods + 1 });
  return all.slice(1).map((period, index) => {
    const before = all[index] ?? period;
    const active = usersWithin(until, period.fromDay, period.endDay);
    const activeBefore = usersWithin(until, before.fromDay, before.endDay);
    const seen = usersWithin(until, -1, period.fromDay - 1);
    return {
      ...columnsOf(period, toDay),
      active: active.size,
      new: active.difference(seen).size,
      returning: active.intersection(activeBefore).size,
      resurrected: active.intersection(seen).difference(activeBefore).size,
      dormant: activeBefore.difference(active).size,
    };
  });
}

export function adoptionRecount({ engagement: events }: World, toDay: number, days: number) {
  const fromDay = toDay - days + 1;
  const until = events.filter(({ day }) => day <= toDay);
  const active = usersWithin(until, fromDay, toDay).size;
  const firstDay = (of: readonly Happening[], userId: string) =>
    Math.min(...of.filter((one) => one.userId === userId).map(({ day }) => day));
  return [...Map.groupBy(until, ({ event }) => event)]
    .map(([event, uses]) => {
      const users = usersWithin(uses, fromDay, toDay);
      const firstTimers = [...users].filter((userId) => firstDay(uses, userId) >= fromDay);
      const waits = firstTimers.map((userId) => firstDay(uses, userId) - firstDay(until, userId));
      return {
        event,
        users: users.size,
        share: users.size / active,
        // These senders' names had no white space, so they are shown as they are.
        label: null,
        firstTimeUsers: firstTimers.length,
        medianDaysToFirstUse: waits.length === 0 ? null : median(waits),
      };
    })
    .filter(({ users }) => users > 0)
    .sort((a, b) => b.users - a.users || byBytes(a.event, b.event));
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** Order of UTF-8 bytes, which is the engine's. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export interface OverTimeOptions extends PeriodOptions {
  readonly event: string;
  readonly top: number;
  /** The group of an event: a value, or null for none. */
  readonly groupOf: (event: Happening) => string | null;
  /** Nothing is split: there is a group without any event. */
  readonly isOneGroup?: boolean;
}

/** Count and people of every group in every period. */
export function overTimeRecount({ events }: World, options: OverTimeOptions) {
  const { toDay, event, top, groupOf, isOneGroup = false } = options;
  const periods = periodsOf(options);
  const first = periods[0]?.fromDay ?? 0;
  const asked = events.filter(
    (one) => one.day >= first && one.day <= toDay && (event === "" || one.event === event),
  );
  const mark = (value: string | null) => (value === null ? "" : `=${value}`);
  const groups = [...Map.groupBy(asked, groupOf)]
    .sort(([a, of], [b, others]) => others.length - of.length || byBytes(mark(a), mark(b)))
    .map(([value, of], index) => ({ value: index < top ? value : null, isRest: index >= top, of }));
  const largest = groups.filter(({ isRest }) => !isRest);
  const rest = groups.filter(({ isRest }) => isRest).flatMap(({ of }) => of);
  const shown = rest.length === 0 ? largest : [...largest, { value: null, isRest: true, of: rest }];
  if (isOneGroup && shown.length === 0) shown.push({ value: null, isRest: false, of: [] });
  return periods.flatMap((period) =>
    shown.map(({ value, isRest, of }) => {
      const within = of.filter(({ day }) => day >= period.fromDay && day <= period.endDay);
      const users = new Set(within.map(({ userId }) => userId)).size;
      return { ...columnsOf(period, toDay), value, label: null, isRest, count: within.length, users };
    }),
  );
}

/** DAU, WAU, MAU of a day, and its stickiness: the mean DAU of 28 days, from the first active one of 30, ÷
 * MAU. */
export function activeUsersRecount({ engagement }: World, toDay: number) {
  const events = engagement.filter(({ day }) => day <= toDay && day > toDay - 30);
  const within = (days: number, last = toDay) => usersWithin(events, last - days + 1, last).size;
  const fromDay = Math.max(toDay - 27, Math.min(...events.map(({ day }) => day)));
  let sum = 0;
  for (let day = fromDay; day <= toDay; day += 1) sum += within(1, day);
  const [daily, weekly, monthly] = [within(1), within(7), within(30)];
  const stickiness = monthly === 0 ? null : sum / (toDay - fromDay + 1) / monthly;
  return { day: dateOf(toDay), daily, weekly, monthly, stickiness };
}

/** The gaps between active days of 182 days, as their lengths and numbers. */
export function gapsRecount({ engagement: events }: World, toDay: number): Map<number, number> {
  const window = events.filter(({ day }) => day <= toDay && day > toDay - 182);
  const gaps = new Map<number, number>();
  for (const of of Map.groupBy(window, ({ userId }) => userId).values()) {
    const days = [...new Set(of.map(({ day }) => day))].sort((a, b) => a - b);
    for (const [index, day] of days.slice(1).entries()) {
      const gap = day - (days[index] ?? 0);
      gaps.set(gap, (gaps.get(gap) ?? 0) + 1);
    }
  }
  return new Map([...gaps].sort(([a], [b]) => a - b));
}
