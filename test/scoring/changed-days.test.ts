/** The effect of new events of earlier days on results of the past. */
import { expect, test } from "bun:test";
import { changesOf, type DayEvents } from "../../server/scoring/run/changed-days.ts";

const msPerDay = 86_400_000;
const today = 20_000;
const look = {
  today,
  nowMs: today * msPerDay + 3_600_000,
  lastBulkLoadAtMs: null,
  dayOf: (atMs: number) => Math.floor(atMs / msPerDay),
};
/** Days that a look of yesterday noted, with 5,000 events each. */
const usual: readonly DayEvents[] = Array.from({ length: 60 }, (_, index) => ({
  day: today - 60 + index,
  events: 5_000,
  seen: 5_000,
  late: 0,
  notedAtMs: look.nowMs - msPerDay,
}));
const withMore = (more: number, day: number) =>
  usual.map((one) => (one.day === day ? { ...one, events: one.events + more } : one));

test("single late events change today's scores alone", () => {
  const { firstStale, hasMore, noted } = changesOf(withMore(99, today - 9), look);
  expect([firstStale, hasMore]).toEqual([undefined, true]);
  expect(noted).toMatchObject([{ day: today - 9, events: 5_099, late: 99 }]);
  expect(changesOf(usual, look)).toMatchObject({ firstStale: undefined, hasMore: false, noted: [] });
});

test("a day that changed in bulk changes all later days", () => {
  const { firstStale, noted } = changesOf(withMore(100, today - 9), look);
  expect(firstStale).toBe(today - 9);
  expect(noted).toMatchObject([{ day: today - 9, events: 5_100, late: 0 }]);
});

test("events with a date long before the data change today's scores alone, however many they are", () => {
  const of1970: DayEvents = { day: 0, events: 150, seen: null, late: 0, notedAtMs: 0 };
  for (const lastBulkLoadAtMs of [null, look.nowMs]) {
    const { firstStale, hasMore, noted } = changesOf([of1970, ...usual], { ...look, lastBulkLoadAtMs });
    expect([firstStale, hasMore]).toEqual([undefined, true]);
    expect(noted).toMatchObject([{ day: 0, events: 150, late: 0 }]);
  }
  // The import of a past is more than a hundredth of the data.
  const past = { ...of1970, events: 5_000 };
  expect(changesOf([past, ...usual], { ...look, lastBulkLoadAtMs: look.nowMs }).firstStale).toBe(0);
});

test("a late event hours after an import changes today's scores alone", () => {
  const imported = withMore(40, today - 9);
  const lastBulkLoadAtMs = look.nowMs - 10_000;
  const { firstStale, noted, atMs } = changesOf(imported, { ...look, lastBulkLoadAtMs });
  expect(firstStale).toBe(today - 9);
  const afterwards = imported.map((one) => {
    const own = noted.find(({ day }) => day === one.day);
    return own === undefined ? one : { ...one, seen: own.events, late: own.late, notedAtMs: atMs };
  });
  const late = afterwards.map((one) => (one.day === today - 4 ? { ...one, events: one.events + 1 } : one));
  const later = { ...look, nowMs: look.nowMs + 5 * 3_600_000 };
  expect(changesOf(late, { ...later, lastBulkLoadAtMs })).toMatchObject({
    firstStale: undefined,
    hasMore: true,
  });
  // Its last rows are loaded a little later, or another import came.
  expect(changesOf(late, { ...look, nowMs: look.nowMs + 5_000, lastBulkLoadAtMs }).firstStale).toBe(
    today - 4,
  );
  expect(changesOf(late, { ...later, lastBulkLoadAtMs: later.nowMs - 60_000 }).firstStale).toBe(today - 4);
});
