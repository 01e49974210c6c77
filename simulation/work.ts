/** A day's work of users, as events. */
import { msPerDay, type Zone } from "../server/calendar/zone.ts";
import { eventKind, workKinds } from "./catalogue.ts";
import type { Person } from "./customers.ts";
import { event, type Item } from "./items.ts";
import type { Random } from "./random.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const signedIn = eventKind("signed_in");
const emailOpened = eventKind("email_opened");
const newsletterWeekday = 2;
/** The share of ordinary work on a public holiday. */
export const holidayShare = 0.08;

/** A day of the calendar, which counts from 1970-01-01. */
export interface CalendarDay {
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly isHoliday: boolean;
}

/** A day in the organization's timezone. */
export interface Day extends CalendarDay {
  readonly startMs: number;
  readonly endMs: number;
}

const holidays = new Set(["01-01", "05-01", "12-24", "12-25", "12-26", "12-31"]);

/** The weekday of a day that counts from 1970-01-01, and whether hardly any company works on it. */
export function weekOf(day: number): Omit<CalendarDay, "day"> {
  const date = new Date(day * msPerDay);
  return { weekday: date.getUTCDay(), isHoliday: holidays.has(date.toISOString().slice(5, 10)) };
}

/** A day of a timezone. */
export function dayIn(zone: Zone, day: number): Day {
  return { day, startMs: zone.startOfDay(day), endMs: zone.startOfDay(day + 1), ...weekOf(day) };
}

/** A moment of a day around an hour. */
export function momentOf(
  { startMs, endMs }: Day,
  hour: number,
  deviationHours: number,
  random: Random,
): number {
  const aimed = startMs + random.normal(hour, deviationHours) * hourMs;
  return Math.round(Math.min(endMs - minuteMs, Math.max(startMs + minuteMs, aimed)));
}

/** Adds a person's events of a day; none before their sign-up or after the day. */
export function addWork(person: Person, day: Day, random: Random, items: Item[]): void {
  if (person.kind === "bot") addPings(person, day, items);
  else if (person.kind === "test") addTestRun(person, day, random, items);
  else {
    if (day.weekday === newsletterWeekday) addNewsletter(person, day, random, items);
    addOrdinaryWork(person, day, random, items);
  }
}

function addOrdinaryWork(person: Person, day: Day, random: Random, items: Item[]): void {
  const isFirstDay = person.signedUpDay === day.day;
  const chance = isFirstDay
    ? 0.9
    : person.presence(day.day, day.weekday) * (day.isHoliday ? holidayShare : 1);
  if (!random.chance(chance)) return;
  const sessions = isFirstDay || !random.chance(0.2) ? 1 : 2;
  const events = Math.max(1, Math.round(person.intensity(day.day) * Math.exp(random.normal(-0.1, 0.5))));
  for (let session = 0; session < sessions; session += 1) {
    const fromMs = isFirstDay ? person.signedUpMs + 20_000 : momentOf(day, person.peakHour, 2.2, random);
    addSession(person, { fromMs, endMs: day.endMs }, Math.ceil(events / sessions), random, items);
  }
}

function addSession(
  person: Person,
  { fromMs, endMs }: { readonly fromMs: number; readonly endMs: number },
  events: number,
  random: Random,
  items: Item[],
): void {
  let timeMs = fromMs;
  if (timeMs < endMs) items.push(event(person, timeMs, signedIn.name, random.pick(signedIn.properties)));
  for (let done = 0; done < events; done += 1) {
    timeMs += Math.round(4_000 + random.exponential(4 * minuteMs));
    if (timeMs >= endMs) return;
    const kind = workKinds[chooseWork(person.odds, random)];
    if (kind !== undefined) items.push(event(person, timeMs, kind.name, random.pick(kind.properties)));
  }
}

/** The place of a choice by running sums of weights. */
function chooseWork(odds: readonly number[], random: Random): number {
  const drawn = random.next() * (odds.at(-1) ?? 0);
  return odds.findIndex((sum) => drawn < sum);
}

/** Not on the day of the sign-up: the letter may have been sent before. */
function addNewsletter(person: Person, day: Day, random: Random, items: Item[]): void {
  if (person.signedUpDay === day.day || !random.chance(0.22)) return;
  const timeMs = momentOf(day, 11, 2, random);
  items.push(event(person, timeMs, emailOpened.name, random.pick(emailOpened.properties)));
}

/** A monitor calls every hour, night and day. */
function addPings(person: Person, { startMs, endMs }: Day, items: Item[]): void {
  for (let timeMs = startMs + 7_000; timeMs < endMs; timeMs += hourMs) {
    if (timeMs > person.signedUpMs) items.push(event(person, timeMs, "api_called", { method: "GET" }));
  }
}

/** A test suite runs through everything within a minute, on some working days. */
function addTestRun(person: Person, day: Day, random: Random, items: Item[]): void {
  if (day.weekday === 0 || day.weekday === 6 || day.isHoliday || !random.chance(0.25)) return;
  const fromMs = Math.max(momentOf(day, 10, 3, random), person.signedUpMs + 20_000);
  for (let step = 0; step < 30; step += 1) {
    const kind = workKinds[step % workKinds.length];
    const timeMs = fromMs + step * 1_500;
    if (kind === undefined || timeMs >= day.endMs) return;
    items.push(event(person, timeMs, kind.name, random.pick(kind.properties)));
  }
}
