/** Cells, rows, labels, traits and members that the engine returns, beside those of the reference. */
import { expect, test } from "bun:test";
import { type EventRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { type CountedCell, fitBgbb } from "../../server/scoring/churn/bgbb-fit.ts";
import { bgbbLogOdds, silenceBetween, tablesFor } from "../../server/scoring/churn/churn-model.ts";
import type { Snapshot } from "../../server/scoring/churn/snapshot.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import type { FeatureSettings, MemberFeatures } from "../../server/scoring/scores/features.ts";
import { observedCutoff, windowStart } from "../../server/scoring/scores/observed-days.ts";
import { isScored } from "../../server/scoring/scores/state.ts";
import { mean } from "../../server/scoring/statistics/vectors.ts";
import type { Random } from "../../simulation/random.ts";
import { user } from "../ledger/writes.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import {
  countedEvents,
  logDay,
  logsOf,
  manySettings,
  population,
  randomOrganization,
  zone,
} from "./engine-support.ts";
import { featuresOf, observedDay } from "./features.ts";
import { type EntityLog, snapshotOf } from "./snapshot.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;
const cutoffs = [63, 200, 301, 420].map(logDay);

/** Days of events are among these outages, and the last of them begins within a horizon. */
const settings: FeatureSettings = {
  ...manySettings,
  outages: [
    { from: logDay(40), to: logDay(45) },
    { from: logDay(150), to: logDay(163) },
    { from: logDay(282), to: logDay(285) },
    { from: logDay(305), to: logDay(320) },
  ],
};

/** In an order that both have, with numbers that both round the same. */
function comparable({ cutoffDay, cells, rows }: Snapshot) {
  const byText = (lines: readonly unknown[]) => lines.map((line) => JSON.stringify(line, rounded)).sort();
  const sorted = rows.map(({ features, label, cluster }) => [
    Object.entries({
      ...features,
      seats: features.seats ?? null,
      pulse: features.pulse ?? null,
      numbers: Object.entries(features.numbers).sort(),
      eventCounts28: Object.entries(features.eventCounts28).sort(),
    }).sort(),
    label,
    cluster > 0 ? `account ${cluster}` : "alone",
  ]);
  return {
    cutoffDay,
    cells: byText(cells.map(({ x, t, n, count }) => [x, t, n, count])),
    rows: byText(sorted),
  };
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Number(Number(value.toFixed(6)).toPrecision(12)) : value;
}

/** The account of a user's latest events of 26 weeks that carry one; 0 without. */
function accountAt(events: readonly EventRow[], cutoffDay: number): number {
  const carrying = events.filter(
    ({ day, account, event }) =>
      account !== 0 &&
      day < cutoffDay &&
      day >= windowStart(cutoffDay, 182, settings.outages) &&
      manySettings.passiveEvents?.has(event) !== true,
  );
  const lastDay = Math.max(...carrying.map(({ day }) => day));
  return Math.max(0, ...carrying.filter(({ day }) => day === lastDay).map(({ account }) => account));
}

function readOne(organization: number, kind: EntityKind, cutoffDay: number) {
  const who = population(organization, kind, settings);
  return readSnapshots(subject.warehouse, who, [cutoffDay], { horizonDays }).then(
    (snapshots) => snapshots.get(cutoffDay) ?? { cutoffDay, cells: [], rows: [] },
  );
}

test("users' snapshots are those of the reference, with traits as they were at the cut-off", async () => {
  const { organization, events, random } = await randomOrganization(subject, "user snapshots", 150);
  const words = randomWords(random, 150);
  await subject.insert(
    "user_versions",
    words.map((word) => versionRow(organization, word)),
  );
  const logs = logsOf(events, "user");
  const seen = new Set<string>();
  for (const cutoffDay of cutoffs) {
    const entities = [...logs].map(([number, log]): EntityLog => {
      const own = words.filter((word) => word.user === number);
      const account = accountAt(
        events.filter(({ user }) => user === number),
        cutoffDay,
      );
      const atMs = zone.startOfDay(cutoffDay);
      return {
        log,
        account,
        traits: traitsAt(own, atMs, words),
        numbers: numbersAt(own, atMs, words),
        planIdleDays: planIdleDaysAt(own, atMs),
        ownAccount: account === 0 ? null : accountFeatures(events, account, cutoffDay),
      };
    });
    const found = await readOne(organization, "user", cutoffDay);
    const rules = { ...settings, countedEvents: countedEvents(events, cutoffDay, settings) };
    expect(comparable(found)).toEqual(comparable(snapshotOf(entities, cutoffDay, horizonDays, rules)));
    for (const { features, label, cluster } of found.rows) {
      seen.add(features.account === null ? "without its members" : "with its members");
      if (features.planIdleDays !== null) seen.add("another plan");
      for (const trait of Object.keys(features.numbers)) seen.add(`number ${trait}`);
      seen.add(`label ${label}`);
      seen.add(cluster > 0 ? "in an account" : "alone");
      // A value of nps is frequent in some random worlds only.
      const { nps: _, ...traits } = features.traits;
      for (const [trait, value] of Object.entries(traits)) seen.add(`${trait} ${value}`);
    }
  }
  const values = ["plan free", "plan pro", "seats 1", "seats 2", "vip true"];
  expect([...seen].sort()).toEqual(
    [
      "alone",
      "in an account",
      "label false",
      "label true",
      ...values,
      "with its members",
      "without its members",
      "another plan",
      "number big",
      "number nps",
    ].sort(),
  );
});

test("accounts' snapshots are those of the reference, with how their members are doing", async () => {
  const { organization, events } = await randomOrganization(subject, "account snapshots", 150);
  const users = logsOf(events, "user");
  for (const cutoffDay of cutoffs) {
    const { cells } = snapshotOf(
      [...users.values()].map((log) => ({ log })),
      cutoffDay,
      horizonDays,
      settings,
    );
    const logOdds = memberLogOdds(users, cells, cutoffDay);
    const entities = [...logsOf(events, "account")].map(([number, log]): EntityLog => {
      return {
        log,
        members: membersAt(
          events.filter(({ account }) => account === number),
          cutoffDay,
          logOdds,
        ),
      };
    });
    const found = await readOne(organization, "account", cutoffDay);
    expect(new Set(found.rows.map(({ entity }) => entity)).size).toBe(found.rows.length);
    const rules = { ...settings, countedEvents: countedEvents(events, cutoffDay, settings) };
    expect(comparable(found)).toEqual(comparable(snapshotOf(entities, cutoffDay, horizonDays, rules)));
  }
});

/** A version of a user's traits. */
interface Word {
  readonly user: number;
  readonly version: number;
  readonly atMs: number;
  readonly traits: Readonly<Record<string, string | number | boolean | null | object>>;
}

function randomWords(random: Random, users: number): Word[] {
  return Array.from({ length: users }, (_, index) =>
    Array.from({ length: random.between(0, 4) }, (_, version): Word => {
      // Versions at the same instant now and then, and late ones: a later version may have an earlier time.
      const atMs = zone.startOfDay(logDay(random.between(0, 400))) + random.pick([-1, 0, 0, msPerDay / 2]);
      return { user: index + 1, version: version + 1, atMs, traits: randomTraits(random, index) };
    }),
  ).flat();
}

function randomTraits(random: Random, index: number): Word["traits"] {
  return {
    ...(random.chance(0.7) && { plan: random.pick(["free", "pro", "pro"]) }),
    ...(random.chance(0.5) && { seats: random.pick([1, 2]) }),
    ...(random.chance(0.7) && { nps: random.pick([0, 1.5, -3, "7", 9, 10, "none", null, true]) }),
    ...(random.chance(0.8) && { vip: random.pick([true, true, true, null]) }),
    ...(random.chance(0.3) && { address: { city: "Paris" }, name: `user ${index}` }),
    ...(random.chance(0.3) && { note: `\u0000 'x' \\ "${index}`, big: 2 ** 64 * (index + 1) }),
  };
}

function versionRow(organization: number, { user: number, version, atMs, traits }: Word): string {
  const said = { atMs, traits: traits as Parameters<typeof userVersionRow>[1]["traits"], account: null };
  return userVersionRow(user(organization, `u${number}`, { number, version }), said);
}

/** The last word on each trait before a time. Only what 30 users ever had. */
function traitsAt(own: readonly Word[], atMs: number, all: readonly Word[]): Record<string, string> {
  const ordered = own.toSorted((a, b) => a.atMs - b.atMs || a.version - b.version);
  const known = ordered.filter((word) => word.atMs < atMs);
  const traits = Object.assign({}, ...known.map((word) => word.traits)) as Word["traits"];
  return Object.fromEntries(
    Object.entries(traits)
      .sort()
      .filter(
        ([trait, value]) => value !== null && typeof value !== "object" && isFrequent(trait, value, all),
      )
      .map(([trait, value]) => [trait, String(value)]),
  );
}

/** The numbers that were last said before a time, of traits with at least 5 different numbers of 30 users. */
function numbersAt(own: readonly Word[], atMs: number, all: readonly Word[]): Record<string, number> {
  const ordered = own.toSorted((a, b) => a.atMs - b.atMs || a.version - b.version);
  const known = ordered.filter((word) => word.atMs < atMs);
  const traits = Object.assign({}, ...known.map((word) => word.traits)) as Word["traits"];
  return Object.fromEntries(
    Object.entries(traits).flatMap(([trait, value]) => {
      const number = numberOf(value);
      return number === null || !isNumeric(trait, all)
        ? []
        : [[trait, Math.max(-1e12, Math.min(1e12, number))]];
    }),
  );
}

function numberOf(value: unknown): number | null {
  const isNumber = typeof value === "number" || typeof value === "string";
  return isNumber && /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,2})?$/.test(String(value)) ? Number(value) : null;
}

function isNumeric(trait: string, all: readonly Word[]): boolean {
  const told = all.flatMap(({ user, traits }) => {
    const number = numberOf(traits[trait]);
    return number === null ? [] : [{ user, number }];
  });
  return new Set(told.map(({ user }) => user)).size >= 30 && new Set(told.map((one) => one.number)).size >= 5;
}

/** Days since the plan got another value. */
function planIdleDaysAt(own: readonly Word[], atMs: number): number | null {
  const plans = own
    .filter((word) => word.atMs < atMs && word.traits.plan !== undefined)
    .toSorted((a, b) => a.atMs - b.atMs || a.version - b.version);
  const other = plans.findLastIndex(({ traits }) => traits.plan !== plans.at(-1)?.traits.plan);
  const change = plans[other + 1];
  return other < 0 || change === undefined ? null : (atMs - change.atMs) / msPerDay;
}

function accountFeatures(events: readonly EventRow[], account: number, cutoffDay: number) {
  const own = events.filter((one) => one.account === account);
  const { active28, activePrevious28 } = membersAt(own, cutoffDay, new Map());
  return { active28, activePrevious28 };
}

function isFrequent(trait: string, value: unknown, all: readonly Word[]): boolean {
  return new Set(all.filter(({ traits }) => traits[trait] === value).map((word) => word.user)).size >= 30;
}

/** The log-odds of each user that has a risk, by the fit to all of them. */
function memberLogOdds(
  users: ReturnType<typeof logsOf>,
  cells: readonly CountedCell[],
  cutoffDay: number,
): ReadonlyMap<number, number> {
  // In the engine's order: sums that round otherwise end the search elsewhere, by a millionth.
  const ordered = cells.toSorted((a, b) => a.n - b.n || a.x - b.x || a.t - b.t);
  const tables = tablesFor(fitBgbb(ordered).parameters, horizonDays);
  return new Map(
    [...users].flatMap(([number, log]): [number, number][] => {
      const features = featuresOf(log, cutoffDay, settings);
      if (!isScored(features, horizonDays)) return [];
      return [
        [
          number,
          bgbbLogOdds(silenceBetween(horizonDays, tables, { ...features.cell, idleDays: features.idleDays })),
        ],
      ];
    }),
  );
}

function membersAt(
  events: readonly EventRow[],
  cutoffDay: number,
  logOdds: ReadonlyMap<number, number>,
): MemberFeatures {
  const recent = events.filter(
    ({ day, event }) =>
      day < cutoffDay && day >= windowStart(cutoffDay, 90, settings.outages) && event !== "mail_sent",
  );
  const end = observedCutoff(cutoffDay, settings.outages);
  const members = [...logsOf(recent, "user")];
  const activeIn = (newest: number, oldest: number) =>
    members.filter(([, log]) =>
      log
        .map(({ day }) => end - observedDay(day, settings.outages))
        .some((daysAgo) => daysAgo > newest && daysAgo <= oldest),
    ).length;
  const volumes = members.map(([, log]) => featuresOf(log, cutoffDay, settings)?.volume28 ?? 0);
  const volume = volumes.reduce((sum, one) => sum + one, 0);
  const risks = members.flatMap(([number]) => logOdds.get(number) ?? []);
  return {
    active28: activeIn(0, 28),
    activePrevious28: activeIn(28, 56),
    active90: activeIn(0, 90),
    topShare: volume === 0 ? 0 : Math.max(...volumes) / volume,
    meanRiskLogOdds: risks.length === 0 ? null : mean(risks),
  };
}
