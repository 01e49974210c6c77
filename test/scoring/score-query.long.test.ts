/** Scores that the engine computes, entity by entity beside the pure functions, on random logs and under
 * every rung. */
import { describe, expect, test } from "bun:test";
import { type ChurnTarget, silence } from "../../contract/api/churn-targets.ts";
import { Zone } from "../../server/calendar/zone.ts";
import {
  accountVersionRow,
  type EventRow,
  userVersionRow,
} from "../../server/ledger/rules/warehouse-rows.ts";
import {
  type ChurnModel,
  eventsOfModel,
  numbersOfModel,
  returnProbability,
  riskScorer,
  traitsOfModel,
} from "../../server/scoring/churn/churn-model.ts";
import { columnsOf, type Design } from "../../server/scoring/churn/design.ts";
import { cellRisks } from "../../server/scoring/queries/cell-table.ts";
import type { EntityKind, Population } from "../../server/scoring/queries/engagement-events.ts";
import {
  featuresOfStored,
  type StoredScore,
  storedColumns,
} from "../../server/scoring/queries/lists/stored-score.ts";
import { insertScoresQuery, type ScoreInput } from "../../server/scoring/queries/score-query.ts";
import { snapshotFor } from "../../server/scoring/queries/stored-snapshots.ts";
import { isMetByEnd } from "../../server/scoring/scores/billing.ts";
import { accountEngagementOf, engagementOf, isUnused } from "../../server/scoring/scores/engagement.ts";
import type { Features } from "../../server/scoring/scores/features.ts";
import { defaultHealthWeights, healthOf } from "../../server/scoring/scores/health.ts";
import { momentumOf } from "../../server/scoring/scores/momentum.ts";
import { riskScaleOf } from "../../server/scoring/scores/risk-scale.ts";
import { isScored, stateOf } from "../../server/scoring/scores/state.ts";
import type { Random } from "../../simulation/random.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { billingWithCanceling, loadBilling, standingsOf } from "./billing-support.ts";
import { hasLeftBy } from "./churn-changes.ts";
import { countedEvents } from "./engine-support.ts";
import { featuresOf } from "./features.ts";
import type { Standing } from "./standing.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const [firstDay, days] = [20_000, 260];
const cutoffs = [firstDay + 1, firstDay + 40, firstDay + 150, firstDay + days];
const bgbb = { alpha: 0.8, beta: 1.7, gamma: 0.6, delta: 4 };
const scale = { activeDays: 9.5, volume: 41, eventNames: 3.2, halfLifeDays: 2.5, leastSeenDays: 14 };
const [users, accounts] = [90, 8];

const settings = {
  passiveEvents: new Set(["mail_sent"]),
  weights: new Map([["save", 2.5]]),
  keyEvents: ["open", "save", "export"],
};

const byEvent = { by: "event", event: "left", undoneBy: "joined_again" } as const;
const targets: readonly ChurnTarget[] = [silence, byEvent, { by: "subscription" }];

function randomEventsOf(random: Random, organization: number): EventRow[] {
  const names = ["open", "open", "save", "export", "mail_sent", byEvent.event, byEvent.undoneBy];
  return Array.from({ length: users }, (_, index) => {
    const [from, span] = [random.between(0, days - 1), random.between(1, days)];
    const account = random.between(0, accounts);
    return Array.from({ length: random.pick([1, 3, 20, 90]) }, () => {
      const day = firstDay + Math.min(days - 1, from + random.between(0, span));
      const timeMs = day * msPerDay + random.between(0, 86_399) * 1_000;
      return event(organization, { user: index + 1, account, event: random.pick(names), timeMs, day });
    });
  }).flat();
}

const plans = ["free", "pro", "it's a \\ trap"];
const planOf = (number: number) => plans[number % 3] ?? "";

/** Two of three users said a number. */
const npsOf = (number: number) => (number % 3 === 0 ? {} : { nps: number % 11 });
const numbersOf = (number: number) => ({ seats: 12, ...npsOf(number) });
const planChangedAtMs = 1_000;
const planIdleDaysOf = (number: number, cutoffDay: number) =>
  number % 5 === 0 ? cutoffDay - planChangedAtMs / msPerDay : null;
const healthTraits = [
  { trait: "nps", zeroAt: 2, hundredAt: 9, weight: 20 },
  { trait: "seats", zeroAt: 40, hundredAt: 10, weight: 5 },
  { trait: "tickets", zeroAt: 3, hundredAt: 0, weight: 5 },
];
const healthWeights = { engagement: 20, outlook: 30, momentum: 15, adoption: 5 };

async function filled(what: string) {
  const organization = subject.newOrganization();
  const random = randomOfThisRun(what);
  const events = randomEventsOf(random, organization);
  await insertEvents(subject, events, 3);
  const bounds = { organization, zone, firstDay, days, users, accounts };
  const billing = billingWithCanceling(random, bounds, cutoffs, events);
  await loadBilling(subject, billing);
  await subject.insert(
    "user_versions",
    Array.from({ length: users }, (_, index) => {
      const number = index + 1;
      const told = (version: number, atMs: number, traits: Readonly<Record<string, string | number>>) =>
        userVersionRow(user(organization, `u${index}`, { number, version }), { atMs, traits, account: 0 });
      // Every fifth user had another plan before.
      return [
        ...(number % 5 === 0 ? [told(1, 0, { plan: "trial" })] : []),
        told(2, planChangedAtMs, { plan: planOf(number), ...numbersOf(number) }),
      ];
    }).flat(),
  );
  await subject.insert(
    "account_versions",
    Array.from({ length: accounts }, (_, index) => {
      const number = index + 1;
      const told = (version: number, atMs: number, traits: Readonly<Record<string, string | number>>) =>
        accountVersionRow({ organization, number, version }, { atMs, traits });
      return [
        ...(number % 5 === 0 ? [told(1, 0, { plan: "trial" })] : []),
        told(2, planChangedAtMs, { plan: planOf(number), ...numbersOf(number) }),
        // It is said much later.
        told(3, (firstDay + 2 * days) * msPerDay, { plan: "later", nps: 5 }),
      ];
    }).flat(),
  );
  // Every second account was judged before the third cut-off.
  await subject.warehouse.command(
    `INSERT INTO account_pulses (organization, account, pulse, version, value, said_at_ms, taken_back_at_ms)
     SELECT {organization:UInt32}, number, number, 1, 1 + number % 5, {saidAtMs:Int64}, NULL
     FROM numbers(2, {accounts:UInt32}) WHERE number % 2 = 0`,
    { organization, accounts, saidAtMs: (firstDay + 130) * msPerDay },
  );
  return { organization, events, random, billing };
}

/** A ridge with every column that the engine may meet, standardized as fitted ones are. */
function ridgeModel(random: Random, kind: EntityKind): ChurnModel {
  const design: Design = {
    hasMembers: kind === "account",
    traits: plans.map((value) => ({ trait: "plan", value })),
    // Some of no user, and one with a name that needs escaping.
    events: ["save", "open", "it's a \\ trap"],
    hasKeyEvents: true,
    numbers: ["nps", "seats", "tickets"],
    hasPlanChanges: true,
    hasAccounts: kind === "user",
    hasBilling: true,
    ...(kind === "account" && { hasSeats: true, hasPulses: true }),
    // Models of before have other columns.
    ...(random.chance(0.5) && { declaredWithinDays: 28 }),
  };
  const columns = columnsOf(design).map(({ name, group }) => ({
    name,
    group,
    mean: random.next() * 3,
    weight: random.next() - 0.5,
    standardDeviation: random.chance(0.1) ? 0 : 0.3 + random.next(),
  }));
  const ridge = { intercept: -0.4, columns, isConverged: true };
  return { rung: 3, horizonDays: 28, bgbb, isByDay: true, referenceLogOdds: -0.4, design, ridge };
}

function modelsOf(random: Random, kind: EntityKind): (ChurnModel | null)[] {
  const common = { horizonDays: 28, bgbb, referenceLogOdds: 0.1, isByDay: true } as const;
  const platt = { intercept: 0.2, slope: 1.3 };
  const churnedPlatt = { intercept: -0.3, slope: 0.7 };
  return [
    null,
    { ...common, rung: 1 },
    { ...common, rung: 2, platt },
    { ...common, rung: 2, platt, churnedPlatt },
    ridgeModel(random, kind),
    {
      ...common,
      rung: 6,
      design: { hasMembers: false, traits: [] },
      ridge: { intercept: -2.7, columns: [], isConverged: true },
    },
  ];
}

async function scored(population: Population, input: ScoreInput): Promise<StoredScore[]> {
  const { sql, parameters } = insertScoresQuery(population, input);
  await subject.warehouse.command(sql, parameters);
  const { organization, kind } = population;
  return subject.warehouse.rows<StoredScore>(
    `SELECT ${storedColumns(kind)} FROM ${kind}_scores
     WHERE organization = {organization:UInt32} AND version = {version:UInt64}`,
    { organization, version: input.version },
  );
}

const near = (value: number | null) => (value === null ? null : expect.closeTo(value, 9));

/** The result of the pure functions for an entity with these features. */
function expected(
  features: Features,
  engagement: number | null,
  { model, riskScale, ...input }: ScoreInput,
  target: ChurnTarget,
  traitValues: Readonly<Record<string, number>> = {},
) {
  const state = stateOf(features, 28, target);
  const { cell } = features;
  const isGone = state === "churned" && target.by === "silence" && model !== null && cell !== null;
  const risk = model !== null && isScored(features, 28, target) ? riskScorer(model)(features).risk : null;
  const momentum = momentumOf(features);
  const { adoption, billing } = features;
  const parts = {
    state,
    engagement,
    risk,
    momentum,
    adoption,
    traitValues,
    billing,
    isUnused: isUnused(features, input.scale, 28),
  };
  const health = healthOf(parts, input.healthWeights, riskScale, input.healthTraits);
  return {
    state,
    healthBand: health.healthBand,
    engagement: near(engagement),
    risk: near(risk),
    returnProbability: near(isGone ? returnProbability(model, { cell, idleDays: features.idleDays }) : null),
    momentum: near(momentum),
    health: near(health.score),
  };
}

let version = 1;
const inputOf = async (
  population: Population,
  cutoffDay: number,
  model: ChurnModel | null,
): Promise<ScoreInput> => {
  version += 1;
  const snapshot = await snapshotFor(subject.warehouse, population, cutoffDay);
  const cells = cellRisks(bgbb, 28);
  const riskScale = riskScaleOf([null, 0.03, 0.6][version % 3] ?? null);
  const rules = version % 2 === 0 ? { healthWeights, healthTraits } : { healthWeights: defaultHealthWeights };
  // Scales of before have the old rule for entities without use.
  const scaleOfDay = cutoffDay === cutoffs[0] ? scale : ({ ...scale, isZeroUnused: true } as const);
  return { snapshot, version, horizonDays: 28, scale: scaleOfDay, ...rules, riskScale, model, cells };
};

/** The scores of users by their number, computed once for each cut-off. */
function userScores(ofUsers: Population) {
  const known = new Map<number, ReadonlyMap<number, StoredScore>>();
  return async (cutoffDay: number): Promise<ReadonlyMap<number, StoredScore>> => {
    const found = known.get(cutoffDay);
    if (found !== undefined) return found;
    const rows = await scored(ofUsers, await inputOf(ofUsers, cutoffDay, null));
    const scores = new Map(rows.map((row) => [row.entity, row]));
    known.set(cutoffDay, scores);
    return scores;
  };
}

const memberRisks = cellRisks(bgbb, 28);

/** Each model at two of the four cut-offs, others for each target: a score is 0.2 s of processor time. */
function modelsAtCutoffs(random: Random, kind: EntityKind, target: ChurnTarget) {
  const shift = targets.indexOf(target);
  return modelsOf(random, kind).flatMap((model, at) =>
    [at + shift, at + shift + 2].map((place) => ({ model, cutoffDay: cutoffs[place % cutoffs.length] ?? 0 })),
  );
}

const toldBy = (model: ChurnModel | null) => ({
  traits: traitsOfModel(model),
  numbers: numbersOfModel(model),
});

describe.each(targets)("the engine scores as the pure functions do, with churn by $by", (target) => {
  test("users, whose features are the reference's, with traits as they were", async () => {
    const { organization, events, random, billing } = await filled("users");
    const standingOn = standingsOf(billing, "user", zone);
    const population: Population = { organization, kind: "user", settings: { ...settings, target }, zone };
    const states = new Set<string>();
    let compared = 0;
    for (const { model, cutoffDay } of modelsAtCutoffs(random, "user", target)) {
      const input = await inputOf(population, cutoffDay, model);
      const rows = await scored(population, input);
      const reference = referenceOf(events, cutoffDay, { model, target, standingOn });
      expect(rows.map(({ entity }) => entity).toSorted(byNumber)).toEqual(
        [...reference.keys()].toSorted(byNumber),
      );
      for (const row of rows) {
        const features = reference.get(row.entity) ?? failed();
        const stored = featuresOfStored(row, toldBy(model));
        expect(stored).toEqual({ ...features, gapVariability: near(features.gapVariability) });
        const { score } = engagementOf(features, input.scale, 28);
        expect(row).toMatchObject(expected(features, score, input, target, numbersOf(row.entity)));
        states.add(row.state);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(200);
    expect([states.has("churned"), states.has("inactive")]).toEqual([true, target.by !== "silence"]);
    expect(states.has("canceling")).toBe(isMetByEnd(target));
  });

  test("accounts, from their members' scores and their own stream", async () => {
    const { organization, events, random, billing } = await filled("accounts");
    const standingOn = standingsOf(billing, "account", zone);
    const ofUsers: Population = { organization, kind: "user", settings: { ...settings, target }, zone };
    const memberScoresOn = userScores(ofUsers);
    let compared = 0;
    for (const { model, cutoffDay } of modelsAtCutoffs(random, "account", target)) {
      const memberScores = await memberScoresOn(cutoffDay);
      const ofAccounts: Population = { ...ofUsers, kind: "account" };
      const input = { ...(await inputOf(ofAccounts, cutoffDay, model)), memberRisks };
      for (const row of await scored(ofAccounts, input)) {
        const active = events.filter(
          ({ account, day, event: name }) =>
            account === row.entity && name !== "mail_sent" && day >= cutoffDay - 28 && day < cutoffDay,
        );
        const own = [...new Set(active.map((one) => one.user))].map(
          (each) => memberScores.get(each)?.engagement ?? Number.NaN,
        );
        const features = featuresOfStored(row, toldBy(model));
        const { traits, numbers, planIdleDays } = features;
        expect({ traits, numbers, planIdleDays }).toEqual(attributesOf(row.entity, cutoffDay, model));
        const ofAccount = events.filter(({ account }) => account === row.entity);
        const standing = standingOn(row.entity, cutoffDay);
        expect(features.hasLeft).toBe(hasLeftOf(ofAccount, cutoffDay, target, standing));
        expect(features.billing).toEqual(standing.billing);
        expect(features.members?.active28).toBe(own.length);
        expect(features.seats).toBe(numbersOf(row.entity).seats);
        const isJudged = row.entity % 2 === 0 && cutoffDay === firstDay + 150;
        expect(features.pulse).toBe(isJudged ? 1 + (row.entity % 5) : null);
        const meanEngagement = own.reduce((sum, each) => sum + each, 0) / Math.max(1, own.length);
        const active90 = features.members?.active90 ?? 0;
        const engagement = accountEngagementOf({
          meanEngagement,
          active28: own.length,
          active90,
          isUnused: isUnused(features, input.scale, 28),
        });
        const score = engagement?.score ?? null;
        expect(row).toMatchObject(expected(features, score, input, target, numbersOf(row.entity)));
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(25);
  });
});

/** The attributes of an account that a model looks at. */
function attributesOf(account: number, cutoffDay: number, model: ChurnModel | null) {
  if (model?.rung !== 3) return { traits: {}, numbers: {}, planIdleDays: null };
  return {
    traits: { plan: planOf(account) },
    numbers: numbersOf(account),
    planIdleDays: planIdleDaysOf(account, cutoffDay),
  };
}

function logOf(events: readonly EventRow[]) {
  return [...Map.groupBy(events, ({ day, event: name }) => `${day} ${name}`).values()]
    .map((same) => ({ day: same[0]?.day ?? 0, event: same[0]?.event ?? "", count: same.length }))
    .toSorted((a, b) => a.day - b.day);
}

/** The features of all users, with what the model looks at. */
function referenceOf(
  events: readonly EventRow[],
  cutoffDay: number,
  {
    model,
    target,
    standingOn,
  }: {
    readonly model: ChurnModel | null;
    readonly target: ChurnTarget;
    readonly standingOn: ReturnType<typeof standingsOf>;
  },
): ReadonlyMap<number, Features> {
  const known = traitsOfModel(model).map(({ value }) => value);
  const numbers = numbersOfModel(model);
  const rules = { ...settings, countedEvents: countedBy(model, events, cutoffDay) };
  return new Map(
    [...Map.groupBy(events, (one) => one.user)].flatMap(([entity, own]) => {
      const standing = standingOn(entity, cutoffDay);
      const [plan, hasLeft] = [planOf(entity), hasLeftOf(own, cutoffDay, target, standing)];
      const told = Object.entries(numbersOf(entity)).filter(([trait]) => numbers.includes(trait));
      const features = featuresOf(logOf(own), cutoffDay, rules, {
        traits: known.includes(plan) ? { plan } : {},
        hasLeft,
        numbers: Object.fromEntries(told),
        account: accountAt(events, entity, cutoffDay),
        planIdleDays: model?.rung === 3 ? planIdleDaysOf(entity, cutoffDay) : null,
        billing: standing.billing,
      });
      return features === null ? [] : [[entity, features] as const];
    }),
  );
}

/** The counted events of a snapshot that a model counts: key events, and those of 30 users. */
function countedBy(model: ChurnModel | null, events: readonly EventRow[], cutoffDay: number): string[] {
  const counted = countedEvents(events, cutoffDay, settings);
  return eventsOfModel(model).filter((name) => counted.includes(name));
}

/** The active members of the account of a user's latest events. */
function accountAt(events: readonly EventRow[], entity: number, cutoffDay: number) {
  const engaged = events.filter(({ event: name, day }) => name !== "mail_sent" && day < cutoffDay);
  const own = engaged.findLast((one) => one.user === entity);
  if (
    own === undefined ||
    own.account === 0 ||
    !engaged.some((one) => one.user === entity && one.day >= cutoffDay - 182)
  )
    return null;
  const activeIn = (from: number, to: number) =>
    new Set(
      engaged
        .filter(
          (one) => one.account === own.account && one.day >= cutoffDay - to && one.day < cutoffDay - from,
        )
        .map((one) => one.user),
    ).size;
  return { active28: activeIn(0, 28), activePrevious28: activeIn(28, 56) };
}

function hasLeftOf(
  events: readonly EventRow[],
  cutoffDay: number,
  { by }: ChurnTarget,
  { left }: Standing,
): boolean {
  if (by === "subscription") return left !== null;
  const changes = events
    .filter(({ event: name }) => name === byEvent.event || name === byEvent.undoneBy)
    .map(({ day, timeMs, event: name }) => ({ day, timeMs, isChurned: name === byEvent.event }));
  return by === "event" && hasLeftBy(changes, cutoffDay);
}

function byNumber(a: number, b: number): number {
  return a - b;
}

function failed(): never {
  throw new Error("the engine scored somebody whom the reference does not know");
}
