/** The part of the contract about what sources send. */
import { expect, test } from "bun:test";
import { sourceLimits } from "../../contract/sources.ts";
import { msPerHour } from "../../server/calendar/zone.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { CountedHour } from "../../server/ledger/stores/sources.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const hour = 480_000;
const atMs = hour * msPerHour;
const none = { accepted: 0, held: 0, duplicate: 0, rejected: 0, ignored: 0 };

/** One hour's counts. They include a received message unless the heard times are null. */
function counted(organization: number, some: Partial<CountedHour>): CountedHour {
  const utcHour = some.utcHour ?? hour;
  return {
    organization,
    source: "segment",
    utcHour,
    ...none,
    firstMs: utcHour * msPerHour,
    lastMs: utcHour * msPerHour + 9,
    firstHeardMs: utcHour * msPerHour,
    lastHeardMs: utcHour * msPerHour + 9,
    ...some,
  };
}

/** Declares the tests of sources' counts. */
export function sourcesContract(subject: LedgerUnderTest): void {
  countsContract(subject);
  retiringContract(subject);
}

function countsContract(subject: LedgerUnderTest): void {
  test("counts of a source add up by the hour and in total, and another organization's are another's", async () => {
    const { id } = await subject.organization();
    const other = await subject.organization("other");
    const { sources } = subject.ledger;
    await sources.add([counted(id, { accepted: 2 }), counted(other.id, { source: "stripe", ignored: 7 })]);
    await sources.add([
      counted(id, { accepted: 3, rejected: 1, lastMs: atMs + 20, lastHeardMs: atMs + 15 }),
      counted(id, { utcHour: hour + 1, duplicate: 1, held: 4 }),
    ]);
    await subject.reopen();
    const { ledger } = subject;
    expect(await ledger.sources.hours(id, hour)).toEqual([
      { source: "segment", utcHour: hour, ...none, accepted: 5, rejected: 1 },
      { source: "segment", utcHour: hour + 1, ...none, duplicate: 1, held: 4 },
    ]);
    expect(await ledger.sources.hours(id, hour + 1)).toHaveLength(1);
    expect(await ledger.sources.totals(id)).toEqual([
      {
        source: "segment",
        accepted: 5,
        held: 4,
        duplicate: 1,
        rejected: 1,
        ignored: 0,
        firstMs: atMs,
        lastMs: atMs + msPerHour + 9,
        firstHeardMs: atMs,
        lastHeardMs: atMs + msPerHour + 9,
        retiredAtMs: null,
      },
    ]);
    expect((await ledger.sources.totals(other.id)).map(({ source }) => source)).toEqual(["stripe"]);
  });

  test("a source of which everything is rejected has sent and was never heard, until something is taken", async () => {
    const { id } = await subject.organization();
    const { sources } = subject.ledger;
    await sources.add([counted(id, { rejected: 5, firstHeardMs: null, lastHeardMs: null })]);
    const [silent] = await sources.totals(id);
    expect([silent?.lastMs, silent?.firstHeardMs, silent?.lastHeardMs]).toEqual([atMs + 9, null, null]);
    await sources.add([counted(id, { utcHour: hour + 2, ignored: 1 })]);
    await sources.add([
      counted(id, { utcHour: hour + 3, rejected: 1, firstHeardMs: null, lastHeardMs: null }),
    ]);
    const [heard] = await sources.totals(id);
    expect([heard?.firstHeardMs, heard?.lastHeardMs]).toEqual([
      atMs + 2 * msPerHour,
      atMs + 2 * msPerHour + 9,
    ]);
  });
}

function retiringContract(subject: LedgerUnderTest): void {
  test("a retired source stays so until something that can be taken comes after it", async () => {
    const { id } = await subject.organization();
    const other = await subject.organization("other");
    const { sources } = subject.ledger;
    expect(await sources.retire(id, "posthog", settingUp, atMs)).toBeUndefined();
    const posthog = { source: "posthog", accepted: 1 } as const;
    await sources.add([counted(id, posthog), counted(other.id, posthog)]);
    const retiredAtMs = async () => (await sources.totals(id))[0]?.retiredAtMs;
    expect(await sources.retire(id, "posthog", settingUp, atMs + 100)).toBe(atMs + 100);
    expect(await sources.retire(id, "posthog", settingUp, atMs + 200)).toBe(atMs + 100);
    expect((await sources.totals(other.id))[0]?.retiredAtMs).toBeNull();
    // A count from before the retirement that is written after it, and a count of refused messages only.
    await sources.add([counted(id, { ...posthog, lastHeardMs: atMs + 50 })]);
    await sources.add([
      counted(id, { ...posthog, utcHour: hour + 1, firstHeardMs: null, lastHeardMs: null }),
    ]);
    expect(await retiredAtMs()).toBe(atMs + 100);
    await sources.add([counted(id, { ...posthog, utcHour: hour + 2 })]);
    expect(await retiredAtMs()).toBeNull();
  });

  test("hours go after eight weeks, a thousand at once, and the totals stay", async () => {
    const { id } = await subject.organization();
    const hours = Array.from({ length: 1_200 }, (_, index) =>
      counted(id, { utcHour: hour + index, accepted: 1 }),
    );
    await subject.ledger.sources.add(hours);
    await subject.ledger.tidy((hour + sourceLimits.keptHours) * msPerHour);
    expect(await subject.ledger.sources.hours(id, 0)).toHaveLength(1_200);
    await subject.ledger.tidy((hour + sourceLimits.keptHours + 1_100) * msPerHour);
    expect(await subject.ledger.sources.hours(id, 0)).toHaveLength(100);
    expect((await subject.ledger.sources.totals(id))[0]?.accepted).toBe(1_200);
  });
}
