/** Which sources are silent, and for which missing data the scores of a day wait. */
import { describe, expect, test } from "bun:test";
import type { SenderName } from "../../contract/sources.ts";
import { msPerHour, Zone } from "../../server/calendar/zone.ts";
import type { SourceHour, SourceTotals } from "../../server/ledger/stores/sources.ts";
import { SourceWatch } from "../../server/scoring/run/source-watch.ts";

const organization = { id: 1, zone: new Zone("UTC") };
const items = { accepted: 0, held: 0, duplicate: 0, rejected: 0, ignored: 0 };
const weekHours = 168;
/** 12:00 UTC of a day. */
const nowHour = 20_500 * 24 + 12;
const today = 20_500;

/** A source that sent in each hour from one to another, counted back from now. */
interface Sender {
  readonly source: SenderName;
  readonly from: number;
  readonly to: number;
  /** Items an hour. */
  readonly accepted?: number;
  readonly retiredAtMs?: number;
  /** How many hours ago an item was rejected. */
  readonly rejected?: number;
}

function watch(...senders: readonly Sender[]): SourceWatch {
  return watchWithDays([], ...senders);
}

/** The same where days, counted back from today, have events, as after an import. */
function watchWithDays(daysAgo: readonly number[], ...senders: readonly Sender[]): SourceWatch {
  const totals = senders.map(({ source, from, to, retiredAtMs = null }): SourceTotals => {
    const [firstMs, lastMs] = [(nowHour - from) * msPerHour, (nowHour - to) * msPerHour];
    const heard = { firstHeardMs: firstMs, lastHeardMs: lastMs };
    return { source, firstMs, lastMs, ...heard, retiredAtMs, ...items };
  });
  const hours = senders.flatMap(({ source, from, to, accepted = 1, rejected }): SourceHour[] => [
    ...Array.from({ length: from - to + 1 }, (_, index) => ({
      ...items,
      source,
      utcHour: nowHour - from + index,
      accepted,
    })),
    ...(rejected === undefined ? [] : [{ ...items, source, utcHour: nowHour - rejected, rejected: 1 }]),
  ]);
  const sources = { totals: () => Promise.resolve(totals), hours: () => Promise.resolve(hours) };
  const days = countsOf(daysAgo);
  const ledger = {
    sources,
    dayCounts: () => Promise.resolve(days),
    lastBulkLoadAtMs: () => Promise.resolve(null),
  };
  return new SourceWatch(ledger, () => nowHour * msPerHour);
}

function countsOf(daysAgo: readonly number[]) {
  return daysAgo.map((ago) => ({ organization: 1, utcDay: today - ago, events: 1, checksum: 0 }));
}

const steady: Sender = { source: "segment", from: 3 * weekHours, to: 0 };
/** Until the end of the day before yesterday. */
const stopped: Sender = { source: "stripe", from: 3 * weekHours, to: 37 };
const sinceMs = (hoursAgo: number) => (nowHour - hoursAgo) * msPerHour;
const silenceOf = ({ source, to }: Sender) => ({ source, sinceMs: sinceMs(to), freezesScores: true });

test("a source is silent after its rhythm, though it sends items that are rejected", async () => {
  expect(await watch(steady, stopped).silent(organization)).toEqual([silenceOf(stopped)]);
  const rejecting = { ...stopped, rejected: 1 };
  expect(await watch(steady, rejecting).silent(organization)).toEqual([silenceOf(stopped)]);
  expect(await watch(steady, { ...stopped, to: 1 }).silent(organization)).toEqual([]);
});

test("a source of less than a week is silent after eight weeks", async () => {
  const states = async (to: number) =>
    (await watch({ ...stopped, from: to + 100, to }).statuses(organization)).map(({ state }) => state);
  expect([await states(8 * weekHours - 1), await states(8 * weekHours)]).toEqual([["sending"], ["silent"]]);
});

test("a retired source is not silent", async () => {
  expect(await watch({ ...stopped, retiredAtMs: 1 }).silent(organization)).toEqual([]);
});

test("a silent source with a tenth of the items delays scores", async () => {
  const freezes = async (accepted: number) => {
    const [silent] = await watch({ ...steady, accepted }, stopped).silent(organization);
    return silent?.freezesScores;
  };
  expect([await freezes(8), await freezes(10)]).toEqual([true, false]);
});

test("a source's share is the mean of 28 days, those after its last item left out", async () => {
  const statuses = await watch({ ...steady, from: 6 * weekHours, accepted: 8 }, stopped).statuses(
    organization,
  );
  // It began at noon and sent on 19 whole days after that.
  expect(statuses[1]?.share).toBeCloseTo((12 / (12 + 24 * 8) + 19 / 9) / 28, 9);
  expect(statuses.map(({ freezesScores }) => freezesScores)).toEqual([false, false]);
});

test("the longest silence delays the days after it began", async () => {
  const longer: Sender = { ...stopped, source: "posthog", to: 70 };
  const all = watch(steady, stopped, longer);
  // 70 hours before noon of today it was 14:00, three days ago.
  const expected = { source: "posthog" as const, sinceMs: sinceMs(70) };
  expect(await all.stoppedFor(organization, today)).toEqual(expected);
  expect(await all.stoppedFor(organization, today - 2)).toEqual(expected);
  expect(await all.stoppedFor(organization, today - 3)).toBeNull();
});

describe("an organization from which nothing is received", () => {
  test("waits, without a word about a source", async () => {
    const expected = { source: null, sinceMs: sinceMs(37) };
    expect(await watch(stopped).stoppedFor(organization, today)).toEqual(expected);
    expect(await watch(stopped).stoppedFor(organization, today - 2)).toBeNull();
    const longer: Sender = { ...stopped, source: "posthog", to: 70 };
    expect(await watch(stopped, longer).stoppedFor(organization, today)).toEqual(expected);
  });

  test("is one that receives few items no longer", async () => {
    const few: Sender[] = [
      { source: "api", from: 3 * weekHours, to: 40, accepted: 500 },
      { source: "api", from: 39, to: 0 },
    ];
    expect(await watch(...few).stoppedFor(organization, today)).toBeNull();
  });

  test("waits for nothing once all its sources are retired", async () => {
    const retired = { ...stopped, retiredAtMs: 1 };
    expect(await watch(retired).stoppedFor(organization, today)).toBeNull();
  });

  test("has the rhythm of the sources that are left", async () => {
    const daily = Array.from({ length: 21 }, (_, index): Sender => {
      const hoursAgo = 24 * (index + 1);
      return { source: "stripe", from: hoursAgo, to: hoursAgo };
    });
    const hourly: Sender = { source: "segment", from: 3 * weekHours, to: 24 };
    const isStopped = async (retiredAtMs?: number) => {
      const left = { ...hourly, ...(retiredAtMs !== undefined && { retiredAtMs }) };
      return (await watch(left, ...daily).stoppedFor(organization, today))?.source;
    };
    expect([await isStopped(), await isStopped(1)]).toEqual([null, undefined]);
  });

  test("has the rhythm of its days with events after an import", async () => {
    const days = (newest: number) => Array.from({ length: 40 }, (_, index) => index + newest);
    const found = (newest: number) => watchWithDays(days(newest)).stoppedFor(organization, today);
    expect(await found(3)).toBeNull();
    // The noon of that day stands for it.
    expect(await found(4)).toEqual({ source: null, sinceMs: (today - 4 + 0.5) * 24 * msPerHour });
    expect(await found(800)).toEqual({ source: null, sinceMs: (today - 800 + 0.5) * 24 * msPerHour });
    expect(await watchWithDays([]).stoppedFor(organization, today)).toBeNull();
  });

  test("is heard of again when an import stores its newer rows within the same hour", async () => {
    const days = (newest: number) => Array.from({ length: 40 }, (_, index) => index + newest);
    let [newest, bulkLoadedAtMs] = [300, 1];
    const ledger = {
      sources: { totals: () => Promise.resolve([]), hours: () => Promise.resolve([]) },
      dayCounts: () => Promise.resolve(countsOf(days(newest))),
      lastBulkLoadAtMs: () => Promise.resolve(bulkLoadedAtMs),
    };
    const watched = new SourceWatch(ledger, () => nowHour * msPerHour);
    expect(await watched.stoppedFor(organization, today)).not.toBeNull();
    [newest, bulkLoadedAtMs] = [1, 2];
    expect(await watched.stoppedFor(organization, today)).toBeNull();
  });

  test("is known from what an import brought before its source has sent for a week", async () => {
    const days = Array.from({ length: 40 }, (_, index) => index + 6);
    const fresh: Sender = { source: "api", from: 6 * 24, to: 6 * 24 };
    expect(await watch(fresh).stoppedFor(organization, today)).toBeNull();
    const found = await watchWithDays(days, fresh).stoppedFor(organization, today);
    expect(found).toEqual({ source: null, sinceMs: sinceMs(6 * 24) });
  });
});
