/** Days in timezones that do what timezones must not do: known instants as facts, random ones against
 * Intl. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseEventTime } from "../../server/calendar/event-time.ts";
import { msPerDay, Zone } from "../../server/calendar/zone.ts";
import { seeded } from "./support.ts";

const options = seeded("zone.test.ts", 800);

/** Zone, an instant in UTC, and what its calendar shows then. */
const facts: readonly (readonly [string, string, string])[] = [
  // Midnight is skipped: the day begins at 01:00.
  ["America/Sao_Paulo", "2018-11-04T02:59:59.999Z", "2018-11-03"],
  ["America/Sao_Paulo", "2018-11-04T03:00:00Z", "2018-11-04"],
  // At midnight the clock goes back to 23:00: the day before lasts 25 hours.
  ["America/Sao_Paulo", "2018-02-18T02:59:59Z", "2018-02-17"],
  ["America/Sao_Paulo", "2018-02-18T03:00:00Z", "2018-02-18"],
  ["Asia/Beirut", "2022-03-26T21:59:59Z", "2022-03-26"],
  ["Asia/Beirut", "2022-03-26T22:00:00Z", "2022-03-27"],
  ["Africa/Cairo", "2024-04-25T21:59:59Z", "2024-04-25"],
  ["Africa/Cairo", "2024-04-25T22:00:00Z", "2024-04-26"],
  // At 01:00 the clock goes back to 00:00: midnight comes twice, the first one begins the day.
  ["America/Havana", "2024-11-03T03:59:59Z", "2024-11-02"],
  ["America/Havana", "2024-11-03T04:00:00Z", "2024-11-03"],
  ["America/Havana", "2024-11-03T05:00:00Z", "2024-11-03"],
  ["America/Havana", "2024-03-10T05:00:00Z", "2024-03-10"],
  // Samoa crossed the date line: there was no December 30, 2011.
  ["Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29"],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31"],
  // Kwajalein crossed it too: there was no August 21, 1993.
  ["Pacific/Kwajalein", "1993-08-21T11:59:59Z", "1993-08-20"],
  ["Pacific/Kwajalein", "1993-08-21T12:00:00Z", "1993-08-22"],
  // Summer time of half an hour, on top of an offset of ten and a half.
  ["Australia/Lord_Howe", "2026-01-01T12:59:59Z", "2026-01-01"],
  ["Australia/Lord_Howe", "2026-01-01T13:00:00Z", "2026-01-02"],
  ["Australia/Lord_Howe", "2026-07-01T13:29:59Z", "2026-07-01"],
  ["Australia/Lord_Howe", "2026-07-01T13:30:00Z", "2026-07-02"],
  // Summer time of two hours.
  ["Antarctica/Troll", "2026-07-01T21:59:59Z", "2026-07-01"],
  ["Antarctica/Troll", "2026-07-01T22:00:00Z", "2026-07-02"],
  ["Antarctica/Troll", "2026-01-01T00:00:00Z", "2026-01-01"],
  // Ramadan: the clock goes back in the middle of what is summer time all year.
  ["Africa/Casablanca", "2024-03-20T23:59:59Z", "2024-03-20"],
  ["Africa/Casablanca", "2024-03-21T00:00:00Z", "2024-03-21"],
  ["Africa/Casablanca", "2024-06-20T23:00:00Z", "2024-06-21"],
  // Offsets of three quarters and of half an hour. Nepal was at 5:30 until 1986.
  ["Asia/Kathmandu", "2026-05-16T18:14:59Z", "2026-05-16"],
  ["Asia/Kathmandu", "2026-05-16T18:15:00Z", "2026-05-17"],
  ["Asia/Kathmandu", "1985-12-31T18:29:59Z", "1985-12-31"],
  ["Asia/Kathmandu", "1985-12-31T18:30:00Z", "1986-01-01"],
  ["Pacific/Chatham", "2026-01-01T10:14:59Z", "2026-01-01"],
  ["Pacific/Chatham", "2026-01-01T10:15:00Z", "2026-01-02"],
  ["Pacific/Chatham", "2026-07-01T11:15:00Z", "2026-07-02"],
  // Newfoundland went back at 00:01: the day began, ended after a minute and began again.
  ["America/St_Johns", "2006-10-29T02:30:00Z", "2006-10-29"],
  ["America/St_Johns", "2006-10-29T02:31:00Z", "2006-10-28"],
  ["America/St_Johns", "2006-10-29T03:29:59Z", "2006-10-28"],
  ["America/St_Johns", "2006-10-29T03:30:00Z", "2006-10-29"],
  // Iran had summer time until 2022, with changes at midnight.
  ["Asia/Tehran", "2022-03-21T20:29:59Z", "2022-03-21"],
  ["Asia/Tehran", "2022-03-21T20:30:00Z", "2022-03-22"],
  ["Asia/Tehran", "2022-07-01T19:30:00Z", "2022-07-02"],
  ["Asia/Tehran", "2023-07-01T20:29:59Z", "2023-07-01"],
  ["Asia/Tehran", "2023-07-01T20:30:00Z", "2023-07-02"],
  // Liberia's clocks were 44 minutes and 30 seconds late until January 7, 1972.
  ["Africa/Monrovia", "1971-06-02T00:44:29Z", "1971-06-01"],
  ["Africa/Monrovia", "1971-06-02T00:44:30Z", "1971-06-02"],
  ["Africa/Monrovia", "1972-01-07T00:44:29Z", "1972-01-06"],
  ["Africa/Monrovia", "1972-01-07T00:44:30Z", "1972-01-07"],
  ["Africa/Monrovia", "1972-01-08T00:00:00Z", "1972-01-08"],
];

/** Zone, a date as an event's time, and the first instant of that day. */
const starts: readonly (readonly [string, string, string])[] = [
  ["America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00.000Z"],
  ["America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00:00.000Z"],
  ["Asia/Beirut", "2022-03-27", "2022-03-26T22:00:00.000Z"],
  ["Africa/Cairo", "2024-04-26", "2024-04-25T22:00:00.000Z"],
  ["America/Havana", "2024-11-03", "2024-11-03T04:00:00.000Z"],
  ["America/Havana", "2024-03-10", "2024-03-10T05:00:00.000Z"],
  ["Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00.000Z"],
  // The day that was not: what is dated so counts as the day after.
  ["Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00.000Z"],
  ["Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z"],
  ["Pacific/Kwajalein", "1993-08-20", "1993-08-20T12:00:00.000Z"],
  ["Pacific/Kwajalein", "1993-08-22", "1993-08-21T12:00:00.000Z"],
  ["Australia/Lord_Howe", "2026-07-02", "2026-07-01T13:30:00.000Z"],
  ["Antarctica/Troll", "2026-07-02", "2026-07-01T22:00:00.000Z"],
  ["Africa/Casablanca", "2024-03-21", "2024-03-21T00:00:00.000Z"],
  ["Africa/Casablanca", "2024-06-21", "2024-06-20T23:00:00.000Z"],
  ["Asia/Kathmandu", "2026-05-17", "2026-05-16T18:15:00.000Z"],
  ["America/St_Johns", "2006-10-29", "2006-10-29T02:30:00.000Z"],
  ["Asia/Tehran", "2022-03-22", "2022-03-21T20:30:00.000Z"],
  ["Pacific/Chatham", "2026-01-02", "2026-01-01T10:15:00.000Z"],
  ["Africa/Monrovia", "1971-06-02", "1971-06-02T00:44:30.000Z"],
  ["Africa/Monrovia", "1972-01-08", "1972-01-08T00:00:00.000Z"],
];

const hardZones = [...new Set(facts.map(([zone]) => zone))];
const moreZones = [
  "UTC",
  "Europe/Paris",
  "America/New_York",
  "Asia/Gaza",
  "America/Asuncion",
  "Asia/Kolkata",
];
const lastZones = [
  "Pacific/Kiritimati",
  "Pacific/Niue",
  "Europe/Dublin",
  "Asia/Pyongyang",
  "America/Caracas",
];

const dateOf = (day: number) => new Date(day * msPerDay).toISOString().slice(0, 10);

test("fourteen zones are known by facts", () => {
  expect(hardZones.length).toBeGreaterThanOrEqual(14);
});

test.each(facts)("in %s at %s the calendar shows %s", (name, instant, date) => {
  expect(dateOf(new Zone(name).dayOf(Date.parse(instant)))).toBe(date);
});

test.each(starts)("in %s the day %s begins at %s", (name, date, instant) => {
  const ms = parseEventTime(date, new Zone(name));
  expect(new Date(ms ?? Number.NaN).toISOString()).toBe(instant);
});

/** The date that Intl shows: another way to the runtime's timezone data than Temporal's transitions. */
function intlDate(timeZone: string): (ms: number) => string {
  const parts = { year: "numeric", month: "2-digit", day: "2-digit" } as const;
  const format = new Intl.DateTimeFormat("en-US", { timeZone, calendar: "gregory", ...parts });
  return (ms) => {
    const shown = new Map(format.formatToParts(ms).map(({ type, value }) => [type, value]));
    return `${shown.get("year")}-${shown.get("month")}-${shown.get("day")}`;
  };
}

describe("the calendar is Intl's, at random instants and around every change of the clock, in", () => {
  test.each([...hardZones, ...moreZones, ...lastZones])("%s", (name) => {
    const zone = new Zone(name);
    const expected = intlDate(name);
    const instant = fc.integer({ min: 0, max: Date.UTC(2300, 0, 1) - 1 });
    const nearChange = fc
      .tuple(fc.constantFrom(...zone.transitions), fc.integer({ min: -msPerDay, max: msPerDay }))
      .map(([{ fromMs }, distanceMs]) => Math.max(0, fromMs + distanceMs));
    const atChange = fc
      .tuple(fc.constantFrom(...zone.transitions), fc.constantFrom(-1, 0, 1, 60_000, 3_600_000))
      .map(([{ fromMs }, distanceMs]) => Math.max(0, fromMs + distanceMs));
    fc.assert(
      fc.property(fc.oneof(instant, nearChange, atChange), (ms) => {
        expect([ms, dateOf(zone.dayOf(ms))]).toEqual([ms, expected(ms)]);
      }),
      options,
    );
  });
});

describe("a day begins where the calendar first shows it, in", () => {
  test.each([...hardZones, ...moreZones, ...lastZones])("%s", (name) => {
    const zone = new Zone(name);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 120_000 }), (day) => {
        const startMs = zone.startOfDay(day);
        // The first millisecond shows the day, or a later one where the zone never had it.
        expect(zone.dayOf(startMs)).toBeGreaterThanOrEqual(day);
        expect(zone.dayOf(startMs - 1)).toBeLessThan(day);
        expect(zone.startOfDay(zone.dayOf(startMs))).toBe(startMs);
      }),
      { ...options, numRuns: 200 },
    );
  });
});

describe("a time of clocks is the instant that Temporal finds, in", () => {
  test.each([...hardZones, ...moreZones, ...lastZones])("%s", (name) => {
    const zone = new Zone(name);
    const local = fc.oneof(
      fc.integer({ min: msPerDay * 2, max: Date.UTC(2299, 11, 30) }),
      fc
        .tuple(fc.constantFrom(...zone.transitions), fc.integer({ min: -msPerDay, max: msPerDay }))
        .map(([{ fromMs, offsetSeconds }, distanceMs]) => fromMs + offsetSeconds * 1_000 + distanceMs),
    );
    fc.assert(
      fc.property(local, (localMs) => {
        const shown = new Date(Math.max(localMs, msPerDay * 2)).toISOString().slice(0, -1);
        const instant = Temporal.PlainDateTime.from(shown).toZonedDateTime(name).epochMilliseconds;
        expect([shown, zone.instantOf(Date.parse(`${shown}Z`))]).toEqual([shown, instant]);
      }),
      { ...options, numRuns: 50 },
    );
  });
});

test("a zone that does not exist cannot be made", () => {
  for (const name of ["Europe/Atlantis", "", "Paris", "../etc"])
    expect(() => new Zone(name)).toThrow(RangeError);
});
