/** Previews of rules about segments, by the members that the keeper of segments recorded. */
import { expect, test } from "bun:test";
import type { RuleCondition } from "../../contract/alerts/rules.ts";
import { memberDigits, recordedDays } from "../../server/analytics/entities/recorded-days.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { FindSegment } from "../../server/features/alerts/rules/past-segments.ts";
import { previewRule, replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { contentKeys } from "../../server/features/segments/evaluations.ts";
import { withDeadline } from "../../server/scoring/preview/deadline.ts";
import type { Random } from "../../simulation/random.ts";
import { msPerDay, randomOfThisRun } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { randomRows, recordMembers, type ScoreRow, storeDays } from "./rules-support.ts";
import { subject, today, World } from "./segment-world.ts";

const users = 40;
const horizonDays = 14;
const all = Array.from({ length: users }, (_, at) => at + 1);
const healthBelow: RuleCondition = { kind: "healthBelow", below: 45 };

/** A segment with recorded members, of users with scores. */
class RecordedWorld extends World {
  readonly segment = this.segments[0]?.id ?? 0;

  get findSegment(): FindSegment {
    return async () => ({
      id: this.segment,
      name: "Pro",
      readsScores: false,
      countsDays: false,
      recorded: await this.recorded(),
    });
  }

  recorded() {
    const content = contentKeys(this.segments)({ id: this.segment });
    return recordedDays(subject.warehouse, {
      organization: this.organization,
      segment: this.segment,
      content,
    });
  }

  question(condition: RuleCondition, inScope: boolean) {
    return {
      organization: { id: this.organization, zone: new Zone("UTC") },
      scope: { kind: "users" as const, ...(inScope && { segment: this.segment }) },
      condition,
      cooldownDays: null,
      horizonDays,
      today,
    };
  }

  preview(condition: RuleCondition, inScope: boolean) {
    const parts = { warehouse: subject.warehouse, findSegment: this.findSegment };
    return previewRule(parts, this.question(condition, inScope));
  }

  get inSegment(): RuleCondition {
    return { kind: "inSegment", segment: this.segment };
  }
}

const some = (random: Random, share: number) => all.filter(() => random.chance(share));

async function scored(world: World, day: number, rows: readonly ScoreRow[]): Promise<void> {
  const own = rows.filter((row) => row.day === day);
  const { organization } = world;
  await storeDays(subject, { organization, kind: "user", days: [day], rows: own, horizonDays });
}

test("the preview of a rule about a segment has the alerts of a live run, day by day", async () => {
  const random = randomOfThisRun("previews of segments");
  const world = new RecordedWorld();
  await world.fill(users);
  const days = Array.from({ length: 40 }, (_, at) => today - 39 + at);
  const rows = randomRows(random, users, days);
  const { organization, segment } = world;
  const rules = [
    { inScope: false, ledger: new LedgerInMemory(organization, world.inSegment) },
    { inScope: true, ledger: new LedgerInMemory(organization, healthBelow, { segment }) },
    { inScope: true, ledger: new LedgerInMemory(organization, world.inSegment, { segment }) },
  ];
  let members = some(random, 0.3);
  for (const day of days) {
    if (day < today && random.chance(0.1)) continue;
    await scored(world, day, rows);
    world.nowMs = day * msPerDay + 3_600_000;
    world.members = members;
    for (const { ledger } of rules) {
      ledger.members = members;
      await ledger.decide(subject.warehouse, world.nowMs);
    }
    await (day === days[0] ? world.look() : world.lookAgain());
    const toggled = new Set(some(random, 0.15));
    members = all.filter((user) => members.includes(user) !== toggled.has(user));
    // What is evaluated later on a day, the rule of this day did not see.
    if (random.chance(0.5)) {
      world.load(...members);
      await world.lookAgain();
    }
  }
  for (const { inScope, ledger } of rules) {
    const { condition } = ledger.rule.version;
    const question = world.question(condition, inScope);
    const recorded = await world.findSegment("scope.segment", segment, "users");
    const named = {
      scope: inScope ? recorded : undefined,
      condition: condition.kind === "inSegment" ? recorded : undefined,
    };
    const { replays } = await replaysOf(subject.warehouse, question, named);
    const foretold = [...replays].flatMap(({ entity, fired }) => fired.map(({ day }) => [day, entity]));
    const live = ledger.fired.map(({ entity, day }) => [day, entity.kind === "user" ? entity.number : 0]);
    expect(sorted(foretold)).toEqual(sorted(live));
    expect(live.length).toBeGreaterThan(0);
    const preview = await world.preview(condition, inScope);
    expect(preview.fired).toBe(live.length);
    expect(preview.open).toBe(live.length - ledger.closed.length);
    expect(preview.days[0]).toBe((await world.recorded())[0]?.day);
  }
});

const sorted = (alerts: readonly (readonly number[])[]) =>
  alerts.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);

test("members by evaluation are those that were recorded, at up to 128 evaluations", async () => {
  const random = randomOfThisRun("members by evaluation");
  const { organization } = await new World().fill(users);
  const about = { organization, segment: 3, of: "user" } as const;
  const days = Array.from({ length: 128 }, (_, at) => today - 127 + at);
  const members = days.map(() => some(random, random.pick([0, 0.1, 0.5])));
  for (const [at, day] of days.entries()) {
    await recordMembers(subject.warehouse, { ...about, day, members: members[at] ?? [] });
  }
  const recorded = await recordedDays(subject.warehouse, { organization, segment: 3, content: "" });
  expect(recorded.map(({ day }) => day)).toEqual(days);
  const asked = recorded.filter((_, at) => random.chance(0.8) || at === 127);
  for (const some of [recorded, asked]) {
    const evaluations = some.map(({ evaluation }) => evaluation);
    const digits = await memberDigits(subject.warehouse, { ...about, evaluations });
    for (const [place, { day }] of some.entries()) {
      const found = all.filter((user) => digits.get(user)?.[place] === "1");
      expect(found).toEqual(members[days.indexOf(day)] ?? []);
    }
  }
});

test("a preview counts churns and the base rate of recorded members alone", async () => {
  const world = new RecordedWorld();
  await world.fill(users);
  const { organization, segment } = world;
  // Everybody with an even number churns on the last day but ten. The first ten are members.
  const days = Array.from({ length: 40 }, (_, at) => today - 39 + at);
  const rows = days.flatMap((day) =>
    all.map((entity): ScoreRow => {
      const state = entity % 2 === 0 && day >= today - 10 ? "churned" : "active";
      return { entity, day, state, risk: 0.1, health: 50, volume28: 1 };
    }),
  );
  await storeDays(subject, { organization, kind: "user", days, rows });
  for (const day of days) {
    await recordMembers(subject.warehouse, {
      organization,
      segment,
      of: "user",
      day,
      members: all.slice(0, 10),
    });
  }
  const find = async () => ({
    id: segment,
    name: "Pro",
    readsScores: false,
    countsDays: false,
    recorded: await recordedDays(subject.warehouse, { organization, segment, content: "" }),
  });
  const ask = (inScope: boolean) =>
    previewRule(
      { warehouse: subject.warehouse, findSegment: find },
      world.question({ kind: "healthBelow", below: 10 }, inScope),
    );
  const [ofScope, ofAll] = [await ask(true), await ask(false)];
  expect([ofScope.churnedEntities, ofScope.missed]).toEqual([5, 5]);
  expect([ofAll.churnedEntities, ofAll.missed]).toEqual([20, 20]);
  expect(ofScope.baseRate.churned).toBeGreaterThan(0);
  expect(4 * ofScope.baseRate.count).toBe(ofAll.baseRate.count);
  expect(4 * ofScope.baseRate.churned).toBe(ofAll.baseRate.churned);
});

test("a preview is for everybody while the segment of its scope is new, and says so", async () => {
  const random = randomOfThisRun("new segments");
  const world = new RecordedWorld();
  await world.fill(users);
  const days = Array.from({ length: 30 }, (_, at) => today - 29 + at);
  const rows = randomRows(random, users, days);
  await storeDays(subject, { organization: world.organization, kind: "user", days, rows });
  const ofAll = await world.preview(healthBelow, false);
  expect(ofAll.fired).toBeGreaterThan(0);
  expect(ofAll.note).toBeNull();
  const note = "The segment Pro has no recorded members of past days yet, so the preview is for all users.";
  expect(await world.preview(healthBelow, true)).toEqual({ ...ofAll, note });
  const unrecorded = await world.preview(world.inSegment, false);
  expect(unrecorded).toMatchObject({ days: [], fired: 0, insideNow: 0, churnedEntities: 0 });
  expect(unrecorded.note).toBe("The members of the segment Pro are not recorded yet.");
  world.members = [1, 2];
  await world.look();
  expect(await world.preview(healthBelow, true)).toEqual({ ...ofAll, note });
  expect(await world.preview(world.inSegment, false)).toMatchObject({
    days: [today],
    fired: 0,
    note: `The members of the segment Pro are recorded from ${formatDay(today)} on.`,
  });
  // Members that were recorded before an edit are of another filter.
  world.edit();
  expect(await world.recorded()).toEqual([]);
});

test("a preview that takes too long is refused", async () => {
  const world = new RecordedWorld();
  const warehouse = withDeadline(subject.warehouse, performance.now() - 1, "It took too long.");
  const parts = { warehouse, findSegment: world.findSegment };
  const late = previewRule(parts, world.question(healthBelow, false));
  await expect(late).rejects.toThrow("It took too long.");
});
