/** The excluded users, compared with a recount of users and rules in this process. Figures leave them out. */

import { expect, test } from "bun:test";
import { activeUsers } from "../../server/analytics/active-users.ts";
import { retention } from "../../server/analytics/retention/retention.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { User } from "../../server/ledger/entities.ts";
import { userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { ExclusionRule } from "../../server/ledger/stores/exclusions.ts";
import { systemTime } from "../../server/process/time.ts";
import { ExclusionKeeper } from "../../server/warehouse/load/exclusion-keeper.ts";
import { applyExclusions } from "../../server/warehouse/load/exclusions.ts";
import { eraseUsers } from "../../server/warehouse/upkeep/erase.ts";
import { counts } from "../analytics/counts.ts";
import { user } from "../ledger/writes.ts";
import { asRules, matches, randomRule, randomUser } from "./exclusion-support.ts";
import { insertEvents, msPerDay, randomEvents, randomOfThisRun, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

/** The methods of a ledger's exclusions that their keeper does not use. */
const refused = () => Promise.reject(new Error("not asked for"));
const unasked = { list: refused, add: refused, remove: refused };

async function excludedUsers(organization: number): Promise<number[]> {
  const [row] = await subject.warehouse.rows<{ users: number[] }>(
    `SELECT bitmapToArray(groupBitmapMergeState(users)) AS users
     FROM excluded_users FINAL WHERE organization = {organization:UInt32}`,
    { organization },
  );
  return (row?.users ?? []).sort((a, b) => a - b);
}

test("after every change of rules and users, the excluded users equal a recount", async () => {
  const random = randomOfThisRun("exclusions");
  const [organization, other] = [subject.newOrganization(), subject.newOrganization()];
  const people = new Map<number, User>();
  let rules: ExclusionRule[] = [];
  await subject.insert("users", [userRow(randomUser(random, other, 1, 1))]);
  let everExcluded = 0;
  for (let round = 1; round <= 25; round += 1) {
    const changed = Array.from({ length: random.between(1, 12) }, () =>
      randomUser(random, organization, random.between(1, 60), round),
    );
    for (const one of changed) people.set(one.number, one);
    await subject.insert(
      "users",
      [...new Map(changed.map((one) => [one.number, one])).values()].map(userRow),
    );
    rules = rules.filter(() => random.chance(0.6)).concat(random.chance(0.9) ? [randomRule(random)] : []);
    const expected = [...people.values()]
      .filter((one) => rules.some((rule) => matches(rule, one)))
      .map(({ number }) => number)
      .sort((a, b) => a - b);
    const count = await applyExclusions(subject.warehouse, organization, asRules(rules));
    expect([rules, await excludedUsers(organization)]).toEqual([rules, expected]);
    expect(count).toBe(expected.length);
    everExcluded += expected.length;
  }
  expect(everExcluded).toBeGreaterThan(0);
  expect(await excludedUsers(other)).toEqual([]);
});

test("every figure leaves out excluded users, as if they had never been there", async () => {
  const random = randomOfThisRun("figures without excluded users");
  for (let round = 0; round < 3; round += 1) {
    const organization = subject.newOrganization();
    const events = randomEvents(random, organization, 400);
    await insertEvents(subject, events, 3);
    const people = Array.from({ length: 60 }, (_, index) =>
      user(organization, `u${index + 1}`, { number: index + 1 }),
    );
    await subject.insert("users", people.map(userRow));
    const left = new Set(people.filter(() => random.chance(0.4)).map(({ number }) => number));
    const rules = [...left].map((number) => ({ kind: "user", key: "", value: `u${number}` }) as const);
    await applyExclusions(subject.warehouse, organization, asRules(rules));
    const kept = events.filter(({ user: number }) => !left.has(number));
    const clean = subject.newOrganization();
    await insertEvents(
      subject,
      kept.map((one) => ({ ...one, organization: clean })),
    );
    const days = events.map(({ timeMs }) => Math.floor(timeMs / msPerDay));
    const weekly = (of: number) =>
      retention(subject.warehouse, {
        organization: of,
        entry: { kind: "firstEvent" },
        returnEvent: null,
        passiveEvents: [],
        horizonDays: 28,
        period: { name: "week", weekStart: 1 },
        measure: "in",
        split: null,
        fromDay: Math.max(...days) - 700,
        toDay: Math.max(...days),
        periods: 100,
        today: Math.max(...days),
        transitions: new Zone("UTC").transitions,
      });
    expect(await weekly(organization)).toEqual(await weekly(clean));
    expect(await counts(subject.warehouse, organization)).toEqual({
      events: kept.length,
      users: 60 - left.size,
    });
    const toDay = Math.floor((events[0]?.timeMs ?? 0) / msPerDay);
    const question = { toDay, passiveEvents: [], days: 1 };
    const active = await activeUsers(subject.warehouse, { organization, ...question });
    const within = (days: number) =>
      new Set(
        kept
          .filter(({ timeMs }) => {
            const age = toDay - Math.floor(timeMs / msPerDay);
            return age >= 0 && age < days;
          })
          .map(({ user: number }) => number),
      ).size;
    expect(active).toMatchObject([{ day: toDay, daily: within(1), weekly: within(7), monthly: within(30) }]);
    expect(await activeUsers(subject.warehouse, { organization: clean, ...question })).toEqual(active);
  }
});

test("rules are applied after a start, after a change, and after users were loaded", async () => {
  const organization = subject.newOrganization();
  const ledger = {
    revision: 1,
    rules: [{ kind: "email_domain", key: "", value: "test.io" }] as ExclusionRule[],
  };
  const newKeeper = () =>
    new ExclusionKeeper({
      time: systemTime,
      warehouse: subject.warehouse,
      exclusions: {
        ...unasked,
        rules: async () => ({ ...ledger, accounts: [] }),
        revisions: async () => [{ organization, revision: ledger.revision }],
      },
    });
  const load = async (keeper: ExclusionKeeper, number: number) => {
    const line = userRow(user(organization, `u${number}`, { number, email: `u${number}@test.io` }));
    await subject.insert("users", [line]);
    const batch = { number: 1, table: "users", year: 0, schema: 1, rows: 1, bytes: 1 } as const;
    keeper.batchLoaded({ ...batch, afterInboxId: 0, uptoInboxId: 1 }, Buffer.from(`${line}\n`));
  };
  const first = newKeeper();
  await load(first, 1);
  await first.apply();
  expect(await excludedUsers(organization)).toEqual([1]);
  await load(first, 2);
  await first.apply();
  expect(await excludedUsers(organization)).toEqual([1, 2]);
  // Loaded, and the process died before it applied anything.
  await load(first, 3);
  const second = newKeeper();
  await second.apply();
  expect(await excludedUsers(organization)).toEqual([1, 2, 3]);
  expect(second.excludedUsers(organization)).toBe(3);
  ledger.rules = [];
  await second.apply();
  expect(second.excludedUsers(organization)).toBe(3);
  ledger.revision = 2;
  await second.apply();
  expect(await excludedUsers(organization)).toEqual([]);
});

test("an erased user is removed from the excluded ones, and no formerly excluded user comes back", async () => {
  const organization = subject.newOrganization();
  const people = [1, 2].map((number) => user(organization, `u${number}`, { number }));
  await subject.insert("users", people.map(userRow));
  const rule = (number: number) => ({ kind: "user", key: "", value: `u${number}` }) as const;
  let rules = [rule(1), rule(2)];
  const keeper = new ExclusionKeeper({
    time: systemTime,
    warehouse: subject.warehouse,
    exclusions: {
      ...unasked,
      rules: async () => ({ revision: 3 - rules.length, rules, accounts: [] }),
      revisions: async () => [{ organization, revision: 3 - rules.length }],
    },
  });
  await keeper.apply();
  rules = [rule(1)];
  await keeper.apply();
  expect(await excludedUsers(organization)).toEqual([1]);
  const whileErased: number[][] = [];
  await keeper.changeUsers([organization], async () => {
    await eraseUsers(subject.warehouse, [{ organization, user: 1 }]);
    whileErased.push(await excludedUsers(organization));
  });
  expect(whileErased).toEqual([[]]);
  expect(await excludedUsers(organization)).toEqual([]);
  expect(keeper.excludedUsers(organization)).toBe(0);
});

test("an organization whose rules cannot be had keeps no other from its own, and gets them the next time", async () => {
  const [failing, other] = [subject.newOrganization(), subject.newOrganization()];
  const rows = [failing, other].map((one) => userRow(user(one, "u1", { number: 1 })));
  await subject.insert("users", rows);
  let isAway = true;
  const exclusions = {
    ...unasked,
    revisions: async () => [failing, other].map((organization) => ({ organization, revision: 1 })),
    rules: async (organization: number) => {
      if (isAway && organization === failing) throw new Error("away");
      return { revision: 1, rules: [{ kind: "user", key: "", value: "u1" } as const], accounts: [] };
    },
  };
  const keeper = new ExclusionKeeper({ time: systemTime, warehouse: subject.warehouse, exclusions });
  expect(await keeper.apply().catch(String)).toBe("Error: away");
  expect([await excludedUsers(failing), await excludedUsers(other)]).toEqual([[], [1]]);
  await keeper.tryToApply();
  isAway = false;
  await keeper.tryToApply();
  expect(await excludedUsers(failing)).toEqual([1]);
});
