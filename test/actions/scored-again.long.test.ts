/** A day that is scored again after it was decided: by other settings on the same day. The decision of the
 * next day knows the settings that decided it, and bulk changes since then. */
import { beforeAll, describe, expect, test } from "bun:test";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { msPerHour, Zone } from "../../server/calendar/zone.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { Random } from "../../simulation/random.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";

const subject = new WarehouseUnderTest();
/** A Thursday: the models of the days before and after it are of the same Monday. */
const decidedDay = 20_006;
const nextDay = decidedDay + 1;
const users = 40;

const before: Settings = {
  ...defaultSettings,
  healthWeights: { engagement: 100, outlook: 0, momentum: 0, adoption: 0 },
};
const after: Settings = {
  ...defaultSettings,
  healthWeights: { engagement: 0, outlook: 0, momentum: 100, adoption: 0 },
};

/** Users who come on some days. Some of them stop on a day. */
async function insertUsers(organization: number): Promise<void> {
  const random = new Random(5);
  const events = Array.from({ length: users }, (_, index) => {
    const often = random.within(0.2, 1);
    const until = random.chance(0.5) ? nextDay : decidedDay - random.between(0, 20);
    return Array.from({ length: 100 }, (__, at) => nextDay - 100 + at)
      .filter((day) => day < until && random.chance(often))
      .map((day) => event(organization, { user: index + 1, day, timeMs: (day + 0.5) * msPerDay }));
  }).flat();
  await insertEvents(subject, events, 1);
}

function score(id: number, day: number, settings: Settings): Promise<unknown> {
  const nowMs = () => day * msPerDay + 2 * msPerHour;
  const organization = { id, zone: new Zone("UTC"), settings };
  return scoreDay(subject.warehouse, { organization, day, nowMs, report: () => undefined });
}

interface Course {
  /** Whether the settings change, and whether the decided day is then scored again. */
  readonly isChanged: boolean;
  readonly isScoredAgain: boolean;
}

/** Decides a day and the next one. */
async function decided({ isChanged, isScoredAgain }: Course) {
  const organization = subject.newOrganization();
  await insertUsers(organization);
  for (const day of [decidedDay - 1, decidedDay]) await score(organization, day, before);
  const ledger = new LedgerInMemory(organization, { kind: "healthBelow", below: 50 });
  await ledger.decide(subject.warehouse, (decidedDay + 0.5) * msPerDay);
  const takenOver = ledger.insideBySettings;
  const settings = isChanged ? after : before;
  if (isScoredAgain) await score(organization, decidedDay, settings);
  await score(organization, nextDay, settings);
  await ledger.decide(subject.warehouse, (nextDay + 0.5) * msPerDay);
  const numbers = ledger.fired.flatMap(({ entity }) => (entity.kind === "user" ? [entity.number] : []));
  return { fired: numbers, bySettings: ledger.insideBySettings - takenOver };
}

/** By the settings of before, on days that are scored once. */
let unchanged: Awaited<ReturnType<typeof decided>>;
beforeAll(async () => {
  unchanged = await decided({ isChanged: false, isScoredAgain: false });
});

describe("after a change of settings within the decided day", () => {
  test("those who come inside on the next day are taken over, as if that day had not been scored again", async () => {
    const [once, again] = [
      await decided({ isChanged: true, isScoredAgain: false }),
      await decided({ isChanged: true, isScoredAgain: true }),
    ];
    expect(once.fired).toEqual([]);
    expect(once.bySettings).toBeGreaterThan(3);
    expect(again).toEqual(once);
    expect(unchanged.bySettings).toBe(0);
  });

  test("those who come inside fire when the day was scored again by the same settings", async () => {
    expect(await decided({ isChanged: false, isScoredAgain: true })).toEqual(unchanged);
    expect(unchanged.fired.length).toBeGreaterThan(0);
  });
});

test("a segment that was edited before the day was scored again by other settings is taken over", async () => {
  const organization = subject.newOrganization();
  await insertUsers(organization);
  await score(organization, decidedDay, before);
  const ledger = new LedgerInMemory(organization, { kind: "inSegment", segment: 1 });
  await ledger.decide(subject.warehouse, decidedDay * msPerDay + 3 * msPerHour);
  // The first scores are of 2 o'clock.
  ledger.segmentChangedAtMs = decidedDay * msPerDay + 4 * msPerHour;
  ledger.members = [1, 2, 3];
  const nowMs = () => decidedDay * msPerDay + 5 * msPerHour;
  const changed = { id: organization, zone: new Zone("UTC"), settings: after };
  await scoreDay(subject.warehouse, {
    organization: changed,
    day: decidedDay,
    nowMs,
    report: () => undefined,
  });
  await score(organization, nextDay, after);
  await ledger.decide(subject.warehouse, (nextDay + 0.5) * msPerDay);
  expect([ledger.fired.length, ledger.watermark.decidedThrough]).toEqual([0, nextDay]);
});
