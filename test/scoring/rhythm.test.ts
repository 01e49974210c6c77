/** When the silence of a source is more than its own rhythm explains. */
import { describe, expect, test } from "bun:test";
import { msPerHour, Zone } from "../../server/calendar/zone.ts";
import { rhythmInWords, rhythmOf } from "../../server/scoring/scores/rhythm.ts";
import { type Judged, judge, simulatedRhythms } from "./rhythm-support.ts";

const utc = new Zone("UTC");
/** Monday, 00:00 UTC. */
const monday = Date.UTC(2026, 0, 5) / msPerHour;
const hours = (weeks: number, sends: (hourOfWeek: number) => boolean, from = monday) =>
  Array.from({ length: weeks * 168 }, (_, index) => index)
    .filter((index) => sends(index % 168))
    .map((index) => from + index);
const isOffice = (hourOfWeek: number) => hourOfWeek < 120 && hourOfWeek % 24 >= 9 && hourOfWeek % 24 < 17;

describe("simulated sources", () => {
  const seeds = 2;
  const years = 5;
  const table = new Map<string, Judged>();

  test("raise few false alarms, and their end is noticed by their own measure", () => {
    for (const [name, make] of Object.entries(simulatedRhythms)) table.set(name, judge(make, seeds, years));
    for (const [name, { falseAlarmsPerYear, falseHoursPerYear, detectedDays }] of table) {
      const figures = [falseAlarmsPerYear, falseHoursPerYear, detectedDays.half, detectedDays.most];
      console.log(`| ${[name, ...figures.map((figure) => figure.toFixed(1))].join(" | ")} |`);
    }
    const alarms = (name: string) => table.get(name)?.falseAlarmsPerYear ?? Number.NaN;
    for (const name of ["every minute", "a nightly job", "a weekly report"]) {
      expect([name, alarms(name)]).toEqual([name, 0]);
    }
    for (const name of Object.keys(simulatedRhythms)) {
      // One in two holidays is noticed before it is over. Campaigns have too few gaps for a rhythm.
      const most = name.includes("holidays") ? 10 : name.startsWith("campaigns") ? 3 : 0.5;
      expect(alarms(name)).toBeLessThanOrEqual(most);
    }
    const detected = (name: string) => table.get(name)?.detectedDays.most ?? Number.NaN;
    expect(detected("every minute")).toBeLessThan(0.25);
    expect(detected("office hours")).toBeLessThan(4);
    expect(detected("a nightly job")).toBeLessThan(4);
    expect(detected("a weekly report")).toBeLessThan(22);
  });
});

test("a source that sends at office hours is not silent on Sunday, and is on Monday afternoon", () => {
  const rhythm = rhythmOf(hours(4, isOffice), monday, utc);
  const next = monday + 4 * 168;
  expect(rhythm?.silentFromMs).toBe((next + 12) * msPerHour);
  expect(rhythm && rhythmInWords(rhythm)).toBe("every hour or more often, never at weekends");
});

test("hours of the week are the organization's: what begins at nine in Paris begins at nine after the clocks change", () => {
  const paris = new Zone("Europe/Paris");
  // Clocks went forward on 29 March 2026.
  const from = Date.UTC(2026, 2, 2) / msPerHour;
  const local = hours(4, isOffice, from).map((hour) => hour - 1);
  const rhythm = rhythmOf(local, from, paris);
  const afterwards = from + 4 * 168 - 2;
  expect(rhythm?.silentFromMs).toBe((afterwards + 12) * msPerHour);
});

test("a source of which less than a week is known makes no claim, however often it sent", () => {
  const all = hours(2, () => true);
  expect(rhythmOf(all.slice(0, 168), monday, utc)).toBeUndefined();
  expect(rhythmOf(all.slice(0, 169), monday, utc)?.silentFromMs).toBe((monday + 168 + 4) * msPerHour);
  expect(rhythmOf([], monday, utc)).toBeUndefined();
});

test("one long gap of a steady source is forgiven: it does not make the next one late", () => {
  const steady = hours(6, () => true);
  const broken = steady.filter((hour) => hour < monday + 200 || hour > monday + 260);
  const last = broken.at(-1) ?? 0;
  const silentAfter = (rhythm: ReturnType<typeof rhythmOf>) => (rhythm?.silentFromMs ?? 0) / msPerHour - last;
  expect(silentAfter(rhythmOf(steady, monday, utc))).toBe(4);
  expect(silentAfter(rhythmOf(broken, monday, utc))).toBeLessThanOrEqual(6);
});

test("nothing in eight weeks is silence, also of a source that sent once a year", () => {
  const rhythm = rhythmOf([monday], monday - 52 * 168, utc);
  expect(rhythm?.silentFromMs).toBeLessThanOrEqual((monday + 8 * 168 + 1) * msPerHour);
});

test("rhythms are described in words", () => {
  const words = (usualGapHours: number, sendsAtWeekends = true) =>
    rhythmInWords({ silentFromMs: 0, usualGapHours, sendsAtWeekends });
  expect([1, 5, 22, 70, 168, 730].map((gap) => words(gap))).toEqual([
    "every hour or more often",
    "about every 5 hours",
    "about once a day",
    "about every 3 days",
    "about once a week",
    "about every 30 days",
  ]);
  expect([words(24, false), words(168, false)]).toEqual([
    "about once a day, never at weekends",
    "about once a week",
  ]);
});
