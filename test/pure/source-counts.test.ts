/** The counts of sources in memory: nothing twice, nothing lost after a failed write, and never too many. */
import { expect, test } from "bun:test";
import { msPerHour } from "../../server/calendar/zone.ts";
import { SourceCounts } from "../../server/intake/source-counts.ts";
import type { CountedHour } from "../../server/ledger/stores/sources.ts";

const hourMs = 480_000 * msPerHour;

/** Counts, and the lines that were written of them. `store.fails` makes writing fail. */
function subject() {
  const written: CountedHour[] = [];
  const store = {
    fails: false,
    /** Lines that are written before it fails. */
    written: 0,
    add: async (lines: readonly CountedHour[], tell: (lines: number) => void = () => undefined) => {
      if (store.fails) {
        written.push(...lines.slice(0, store.written));
        tell(store.written);
        throw new Error("the disk is full");
      }
      written.push(...lines.map((line) => ({ ...line })));
    },
  };
  return { counts: new SourceCounts(store), store, written };
}

const item = { organization: 1, source: "segment", atMs: hourMs, outcome: "accepted" } as const;

test("items are counted by organization, source, hour and outcome, and written down once", async () => {
  const { counts, written } = subject();
  counts.note(item);
  counts.note({ ...item, atMs: hourMs + 5, outcome: "rejected" });
  counts.note({ ...item, atMs: hourMs + 3, outcome: "held" }, 4);
  counts.note({ ...item, atMs: hourMs + msPerHour, outcome: "rejected" });
  counts.note({ ...item, organization: 2, source: "api" });
  expect(counts.size).toBe(3);
  await counts.flush();
  await counts.flush();
  const none = { accepted: 0, held: 0, duplicate: 0, rejected: 0, ignored: 0 };
  const first = { organization: 1, source: "segment", utcHour: 480_000 } as const;
  expect(written).toEqual([
    {
      ...first,
      ...none,
      accepted: 1,
      rejected: 1,
      held: 4,
      firstMs: hourMs,
      lastMs: hourMs + 5,
      firstHeardMs: hourMs,
      lastHeardMs: hourMs + 3,
    },
    {
      ...first,
      utcHour: 480_001,
      ...none,
      rejected: 1,
      firstMs: hourMs + msPerHour,
      lastMs: hourMs + msPerHour,
      firstHeardMs: null,
      lastHeardMs: null,
    },
    {
      ...first,
      organization: 2,
      source: "api",
      ...none,
      accepted: 1,
      firstMs: hourMs,
      lastMs: hourMs,
      firstHeardMs: hourMs,
      lastHeardMs: hourMs,
    },
  ]);
});

test("an item that is counted after the hour has turned stays in the hour that is open", async () => {
  const { counts, written } = subject();
  counts.note({ ...item, atMs: hourMs + msPerHour });
  counts.note(item);
  await counts.flush();
  expect(written.map(({ utcHour, accepted }) => [utcHour, accepted])).toEqual([[480_001, 2]]);
});

test("lines that were written before a failure are not written again", async () => {
  const { counts, store, written } = subject();
  for (const organization of [1, 2, 3]) counts.note({ ...item, organization });
  Object.assign(store, { fails: true, written: 2 });
  await expect(counts.flush()).rejects.toThrow("the disk is full");
  store.fails = false;
  await counts.flush();
  expect(written.map(({ organization, accepted }) => [organization, accepted])).toEqual([
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
});

test("counts that cannot be written are written later, with the new ones", async () => {
  const { counts, store, written } = subject();
  counts.note(item);
  store.fails = true;
  const failing = counts.flush();
  counts.note(item);
  await expect(failing).rejects.toThrow("full");
  counts.note(item);
  store.fails = false;
  await counts.flush();
  expect(written.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(3);
  expect(counts.size).toBe(0);
});

test("memory is bounded: past 20,000 lines a source goes on in its last hour, and a new one is not counted", async () => {
  const { counts, written } = subject();
  for (let organization = 1; organization <= 20_000; organization += 1)
    counts.note({ ...item, organization });
  counts.note({ ...item, atMs: hourMs + msPerHour });
  counts.note({ ...item, organization: 20_001 });
  expect(counts.size).toBe(20_000);
  await counts.flush();
  const ofFirst = written.filter(({ organization }) => organization === 1);
  expect(ofFirst.map(({ utcHour, accepted }) => [utcHour, accepted])).toEqual([[480_000, 2]]);
  expect(written).toHaveLength(20_000);
  counts.note({ ...item, organization: 20_001 });
  expect(counts.size).toBe(1);
});
