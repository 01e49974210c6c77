/** Events that come late by the write API have the past scored again each night. Only many of them, or
 * another cause, silence a rule for a day. */
import { expect, test } from "bun:test";
import { markStale } from "../../server/scoring/run/records.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;
const users = 30;
const firstPublishedAtMs = (today - 2) * msPerDay;

/** User 1 comes into high risk yesterday, and user 2 today. The runs of all days are of the day before
 * yesterday. */
async function storeCrossings(organization: number): Promise<void> {
  const days = Array.from({ length: 10 }, (_, at) => today - 9 + at);
  const rows: ScoreRow[] = days.flatMap((day) =>
    [1, 2].map((entity) => ({
      entity,
      day,
      state: "active" as const,
      health: 50,
      volume28: 1,
      risk: day >= today - 2 + entity ? 0.9 : 0.1,
    })),
  );
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays, firstPublishedAtMs });
}

/** Each user has an event on each of 60 days. They came at the beginning of 1970, and later ones
 * yesterday. */
async function storeEvents(
  organization: number,
  later: readonly (readonly [user: number, day: number])[],
): Promise<void> {
  const usual = Array.from({ length: 60 * users }, (_, at) => [1 + (at % users), today - 2 - (at % 60)]);
  const one = (user = 1, day = today, receivedAtMs = 0) =>
    event(organization, { user, day, timeMs: day * msPerDay, receivedAtMs });
  await insertEvents(subject, [
    ...usual.map(([user, day]) => one(user, day)),
    ...later.map(([user, day]) => one(user, day, (today - 1) * msPerDay)),
  ]);
}

const times = <T>(count: number, of: (at: number) => T) => Array.from({ length: count }, (_, at) => of(at));
const ofOnePhone = times(150, () => [users, today - 7] as const);
const ofSome = times(15, (at) => [at + 1, today - 7] as const);
const ofAll = times(60, (at) => [1 + (at % users), today - 7 - (at % 20)] as const);

test.each<
  readonly [what: string, later: typeof ofSome, isTakenOver: boolean, timezone?: string, isScored?: boolean]
>([
  ["many events of one user of thirty", ofOnePhone, false],
  ["few events of half of the users", ofSome, false],
  ["events of all users, 3 % of all", ofAll, true],
  ["no event, so that the scores changed for another cause,", [], true],
  ["few events, and another timezone", ofSome, true, "Etc/UTC"],
  ["events of all users, which changed no scores", ofAll, false, "UTC", false],
])(
  "when %s came late, the next decision fires or is taken over",
  async (_, later, isTakenOver, timezone = "UTC", isScored = true) => {
    const organization = subject.newOrganization();
    await storeCrossings(organization);
    await storeEvents(organization, later);
    const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" });
    const decide = (day: number) => ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
    await decide(today - 2);
    if (isScored) await markStale(subject.warehouse, organization, today - 7);
    ledger.timezone = timezone;
    await decide(today - 1);
    const fired = ledger.fired.map(({ entity }) => (entity.kind === "user" ? entity.number : 0));
    expect([fired, ledger.watermark.decidedThrough]).toEqual([isTakenOver ? [] : [1], today - 1]);
  },
);
