/** Segments as of past days have the members that lists had on them, and previews of rules about them the
 * alerts of a live run. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { RuleCondition, RuleScope } from "../../contract/alerts/rules.ts";
import type { Filter } from "../../contract/segments/filters.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { segmentsNamed } from "../../server/features/alerts/rules/past-segments.ts";
import { previewRule, replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { withDeadline } from "../../server/scoring/preview/deadline.ts";
import { msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { PastWorld } from "./past-world.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
/** Scores of the last ten days are compared with those of four weeks before. */
const firstDay = today - 38;
/** Facts are known from then on, and subscriptions from a later day. */
const beginning = today - 45;
const firstBilled = today - 16;
/** Days without scores. */
const pause = today - 8;
const pauses = [today - 34, ...Array.from({ length: 9 }, (_, at) => today - 27 + at), pause];
/** No data came on the nine days in a row, and scores wait for no other days. */
const outages = [{ from: today - 27, to: today - 18 }];
const scored = Array.from({ length: 39 }, (_, at) => firstDay + at).filter((day) => !pauses.includes(day));
const from = { activeFrom: formatDay(today - 15), activeTo: formatDay(today - 9) };

const ofUsers: readonly Filter[] = [
  { traits: [{ trait: "plan", value: "pro" }] },
  { traits: [{ trait: "plan", match: "isNot", value: "pro" }] },
  { traits: [{ trait: "plan", match: "contains", value: "RO" }] },
  { traits: [{ trait: "plan", match: "isEmpty" }] },
  {
    traits: [
      { trait: "plan", match: "isNotEmpty" },
      { trait: "seats", match: "isEmpty" },
    ],
  },
  { events: [{ event: "opened", days: 1 }] },
  { events: [{ event: "opened", days: 4 }] },
  { events: [{ event: "opened", times: 4, days: 5 }] },
  { events: [{ event: "report", match: "fewerThan", times: 2, days: 9 }] },
  { seenWithinDays: 3 },
  { notSeenForDays: 4 },
  { seenWithinDays: 20, notSeenForDays: 2 },
  { state: "inactive" },
  { state: "no_data" },
  { healthBand: "at_risk" },
  { healthBand: "none", isPresent: false },
  { riskBand: "low" },
  { riskBand: "medium", state: "active" },
  { riskBand: "high" },
  { verdict: "not_churned" },
  { verdict: "account_churned" },
  { verdict: "churned" },
  { verdict: "high_risk" },
  { verdict: "no_score" },
  { verdict: "watch", isPresent: true },
  from,
  { ...from, lifecycle: "new" },
  { ...from, lifecycle: "returning" },
  { ...from, lifecycle: "resurrected" },
  { ...from, lifecycle: "dormant" },
  { mrrFrom: 3_000 },
  { mrrTo: 4_000, subscriptionPlan: "Gold" },
  { subscriptionStatus: "canceled" },
  // The last two and the fixed one have these places below.
  { segments: [{ segment: 38 }] },
  { state: "active", segments: [{ segment: 1, match: "isNotIn" }, { segment: 34 }] },
  { segments: [{ segment: 46 }, { segment: 10, match: "isNotIn" }] },
];
const ofAccounts: readonly Filter[] = [
  { traits: [{ trait: "tier", match: "isNot", value: "gold" }] },
  { traits: [{ trait: "tier", value: "gold" }] },
  { events: [{ event: "opened", times: 3, days: 3 }] },
  { events: [{ event: "report", days: 3 }] },
  { notSeenForDays: 2 },
  { verdict: "not_churned", riskBand: "medium" },
  { verdict: "account_churned" },
  { mrrFrom: 2_000 },
  { healthBand: "none" },
];

/** Conditions that compare two days, and those on renewals, from id 47 on. */
const moves = ["changed", "worse", "better", "fell", "rose", "churned", "returned"] as const;
const comparing: readonly Filter[] = [
  ...moves.map((moved) => ({ moved })),
  ...(["at_risk", "present", "churned", "none"] as const).map((healthBandBefore) => ({ healthBandBefore })),
  { toCall: true },
  { toCall: false, isPresent: true },
  { moved: "rose", riskBand: "medium", healthBandBefore: "present" },
  { renewsWithinDays: 1 },
  { renewsWithinDays: 12 },
  { renewsWithinDays: 3_650, subscriptionStatus: "active" },
  { usageFellPercent: 25 },
  { usageFellPercent: 100, riskBand: "low" },
  { healthFellPoints: 10 },
  { healthFellPoints: 8, healthFellDays: 3 },
  { moved: "fell", healthBandBefore: "present", comparedWithDays: 7 },
  { moved: "rose", comparedWithDays: 7 },
  { usageFellPercent: 20, healthFellPoints: 5, healthFellDays: 7 },
];

const random = randomOfThisRun("segments in the past");
const world = new PastWorld(subject, random, [
  ...ofUsers.map((filter) => ({ kind: "users" as const, filter })),
  ...ofAccounts.map((filter) => ({ kind: "accounts" as const, filter })),
  { kind: "users", filter: null, ids: [1, 2, 5, 8, 13] },
  ...comparing.map((filter) => ({ kind: "users" as const, filter })),
  // Of accounts every third: moves and bands are the same in both.
  ...comparing
    .filter(({ renewsWithinDays }, at) => renewsWithinDays !== undefined || at % 3 === 0)
    .map((filter) => ({ kind: "accounts" as const, filter })),
]);
const compared = scored.filter(
  (day) => [today, pause + 1, firstBilled].includes(day) || (day > firstBilled && random.chance(0.25)),
);

/** The rules that are decided day by day, and previewed afterwards. */
const rules: readonly { readonly scope?: number; readonly condition: RuleCondition }[] = [
  { condition: { kind: "inSegment", segment: 18 } },
  { condition: { kind: "inSegment", segment: 3 } },
  { condition: { kind: "inSegment", segment: 11 } },
  { scope: 2, condition: { kind: "keyEventUnseen", event: "opened", days: 3 } },
  { scope: 20, condition: { kind: "inSegment", segment: 10 } },
  { condition: { kind: "inSegment", segment: 50 } },
  { condition: { kind: "inSegment", segment: 62 } },
  { scope: 58, condition: { kind: "inSegment", segment: 10 } },
];
/** The segments that a rule names. */
const namedBy = ({ scope, condition }: (typeof rules)[number]): number[] => [
  ...(scope === undefined ? [] : [scope]),
  ...(condition.kind === "inSegment" ? [condition.segment] : []),
];
const ledgers = rules.map(
  ({ scope, condition }) =>
    new LedgerInMemory(world.organization, condition, scope === undefined ? {} : { segment: scope }),
);

interface Seen {
  readonly day: number;
  readonly segment: number;
  readonly members: readonly number[];
  readonly existing: readonly number[];
}

const seen: Seen[] = [];

beforeAll(async () => {
  await world.begin(beginning, firstBilled);
  for (let day = beginning + 1; day <= today; day += 1) {
    if (scored.includes(day)) await onScoredDay(day);
    await world.live(day);
  }
}, 600_000);

async function onScoredDay(day: number): Promise<void> {
  const known = outages.filter(({ to }) => to <= day);
  await world.score(day, day >= today - 10, known);
  const isCompared = compared.includes(day);
  // All that are asked for on a day, once: rules share segments with each other and with the comparison.
  const asked = isCompared ? world.segments.map(({ id }) => id) : [...new Set(rules.flatMap(namedBy))];
  const members = await world.membersNow(asked);
  for (const [at, rule] of rules.entries()) {
    const ledger = ledgers[at];
    if (ledger === undefined) continue;
    for (const id of namedBy(rule)) {
      ledger.membersOf.set(id, members.get(id) ?? []);
      const segment = await world.findSegment("scope.segment", id, "users");
      ledger.readsScores ||= segment.readsScores;
      ledger.countsDays ||= segment.countsDays;
    }
    await ledger.decide(subject.warehouse, day * msPerDay + 1_000);
  }
  if (!isCompared) return;
  for (const { id: segment, kind } of world.segments) {
    const existing = world.existing(kind);
    seen.push({ day, segment, existing, members: members.get(segment) ?? [] });
  }
}

test("the members of past days are those that lists had", async () => {
  for (const { id, kind, filter } of world.segments) {
    const { membersOn } = await world.findSegment("scope.segment", id, kind);
    const sets = await membersOn(scored);
    const of = seen.filter(({ segment }) => segment === id);
    expect(of).toHaveLength(compared.length);
    const inPast = of.map(({ day, existing }) => ({
      day,
      filter,
      members: existing.filter((entity) => sets.has(entity, scored.indexOf(day))),
    }));
    const inLists = of.map(({ day, members, existing }) => ({
      day,
      filter,
      // A fixed segment has numbers of users who come later.
      members: members.filter((entity) => existing.includes(entity)),
    }));
    expect(inPast).toEqual(inLists);
  }
  const sizes = world.segments.map(({ id }) =>
    seen.filter(({ segment }) => segment === id).reduce((sum, { members }) => sum + members.length, 0),
  );
  // Few that have members would be no comparison. How many have any depends on the seed.
  expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(sizes.length / 2);
}, 300_000);

test("no rule about days fires on the day after days without data", () => {
  const after = today - 18;
  const counting = ledgers.filter(({ countsDays }) => countsDays);
  expect(counting.length).toBeGreaterThan(0);
  for (const { fired } of counting) expect(fired.filter(({ day }) => day === after)).toEqual([]);
  expect(counting.some(({ insideBySettings }) => insideBySettings > 0)).toBe(true);
});

test("a preview without a scored day has no figures", async () => {
  const condition = { kind: "inSegment", segment: 1 } as const;
  const preview = await previewRule(
    { warehouse: subject.warehouse, findSegment: world.findSegment },
    {
      organization: { id: world.organization, zone: new Zone("UTC") },
      condition,
      scope: { kind: "users", segment: 2 },
      cooldownDays: null,
      horizonDays: 14,
      today: today + 1_000,
    },
  );
  expect(preview).toMatchObject({ days: [], fired: 0, insideNow: 0, churnedEntities: 0 });
});

test("a preview that takes too long is refused", async () => {
  const warehouse = withDeadline(subject.warehouse, performance.now() - 1, "It took too long.");
  const asked = {
    organization: { id: world.organization, zone: new Zone("UTC") },
    cooldownDays: null,
    horizonDays: 14,
    scope: { kind: "users" as const },
    condition: { kind: "inSegment" as const, segment: 18 },
    today,
  };
  const late = previewRule({ warehouse, findSegment: world.findSegment }, asked);
  await expect(late).rejects.toThrow("It took too long.");
});

describe("the preview of a rule about segments has the alerts of a live run", () => {
  for (const [at, { scope: segment, condition }] of rules.entries()) {
    const scope: RuleScope = { kind: "users", ...(segment !== undefined && { segment }) };
    test(`${JSON.stringify({ scope, condition })}`, async () => {
      const question = {
        organization: { id: world.organization, zone: new Zone("UTC") },
        scope,
        condition,
        cooldownDays: null,
        horizonDays: 14,
        today,
      };
      const named = await segmentsNamed(world.findSegment, question);
      const { replays } = await replaysOf(subject.warehouse, question, named);
      const foretold = [...replays];
      const fired = foretold.flatMap(({ entity, fired: own }) => own.map(({ day }) => [day, entity]));
      const live = (ledgers[at]?.fired ?? []).map(({ entity, day }) => [
        day,
        entity.kind === "user" ? entity.number : 0,
      ]);
      expect(sorted(fired)).toEqual(sorted(live));
      expect(live.length).toBeGreaterThan(0);
      const preview = await previewRule(
        { warehouse: subject.warehouse, findSegment: world.findSegment },
        question,
      );
      expect(preview.fired).toBe(live.length);
      expect(preview.open).toBe(live.length - (ledgers[at]?.closed.length ?? 0));
      expect(preview.insideBySettings).toBe(ledgers[at]?.insideBySettings ?? 0);
    }, 300_000);
  }
});

const sorted = (alerts: readonly (readonly number[])[]) =>
  alerts.toSorted(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);
