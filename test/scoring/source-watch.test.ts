/** Which sources are silent, and which of them delay the scores of a day. */
import { expect, test } from "bun:test";
import type { SenderName } from "../../contract/sources.ts";
import { msPerHour, Zone } from "../../server/calendar/zone.ts";
import type { SourceHour, SourceTotals } from "../../server/ledger/ports/sources.ts";
import { SourceWatch } from "../../server/scoring/data-quality/source-watch.ts";

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
  const totals = senders.map(({ source, from, to, retiredAtMs = null }): SourceTotals => {
    const [firstMs, lastMs] = [(nowHour - from) * msPerHour, (nowHour - to) * msPerHour];
    const heard = { firstHeardMs: firstMs, lastHeardMs: lastMs };
    return { source, firstMs, lastMs, ...heard, retiredAtMs, ...items };
  });
  const hours = senders.flatMap(({ source, from, to, accepted = 1, rejected }): SourceHour[] => [
    ...Array.from({ length: from - to + 1 }, (_, index) => ({
      ...{ ...items, source, utcHour: nowHour - from + index, accepted },
    })),
    ...(rejected === undefined ? [] : [{ ...items, source, utcHour: nowHour - rejected, rejected: 1 }]),
  ]);
  const ledger = { totals: () => Promise.resolve(totals), hours: () => Promise.resolve(hours) };
  return new SourceWatch(ledger, () => nowHour * msPerHour);
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
  expect(await all.frozenBy(organization, today)).toEqual(silenceOf(longer));
  expect(await all.frozenBy(organization, today - 2)).toEqual(silenceOf(longer));
  expect(await all.frozenBy(organization, today - 3)).toBeNull();
});
