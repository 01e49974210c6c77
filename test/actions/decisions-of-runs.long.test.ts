/** Decisions about real runs: a change of settings is told from a change of behaviour, events that were done,
 * and accounts without members. */
import { expect, test } from "bun:test";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { decisionsOfDay, type RuleOnDay } from "../../server/features/alerts/daily/decide-day.ts";
import type { DailyCondition, ScoreCondition } from "../../server/features/alerts/rules/conditions.ts";
import { mrrReader } from "../../server/features/alerts/rules/mrr.ts";
import type { EntityStateRow } from "../../server/ledger/ports/actions/rules.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { runsBetween } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { Random } from "../../simulation/random.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const [firstDay, secondDay] = [20_000, 20_010];
const below = 55;

/** Users of ten accounts, who come on some days and stop on some day. */
async function insertUsers(organization: number, users: number): Promise<void> {
  const random = new Random(5);
  const events = Array.from({ length: users }, (_, index) => {
    const often = random.within(0.2, 1);
    const until = random.chance(0.5) ? secondDay : firstDay - random.between(1, 8);
    return Array.from({ length: 100 }, (__, at) => secondDay - 100 + at)
      .filter((day) => day < until && random.chance(often))
      .map((day) =>
        event(organization, {
          user: index + 1,
          account: 1 + (index % 10),
          event: random.pick(["opened", "saved"]),
          day,
          timeMs: (day + 0.5) * msPerDay,
        }),
      );
  }).flat();
  await insertEvents(subject, events, 1);
}

function score(id: number, day: number, settings: Settings) {
  return scoreDay(subject.warehouse, {
    organization: { id, zone, settings },
    day,
    nowMs: () => 1,
    report: () => undefined,
  });
}

const unused = () => Promise.reject(new Error("The rule names no segment."));

/** The decisions about the second day, by number, of a rule that decided the first. */
async function decisions(
  id: number,
  kind: EntityKind,
  condition: ScoreCondition | Extract<DailyCondition, { kind: "keyEventUnseen" }>,
  states: ReadonlyMap<number, EntityStateRow> = new Map(),
) {
  const runs = await runsBetween(
    subject.warehouse,
    { organization: id, kind },
    { fromDay: firstDay, toDay: secondDay },
  );
  const [last, run] = runs;
  if (run === undefined) throw new Error("the second day is not scored");
  const rule = {
    condition,
    scope: undefined,
    before: undefined,
    rulesBefore: last,
    membersBefore: undefined,
    states,
    decidedUpto: -1,
    times: { cooldownDays: 14, exitDays: 2 },
    takesOver: false,
    isBySettings: false,
    due: { version: { exemptions: {} } },
  } as object as RuleOnDay;
  const parts = {
    warehouse: subject.warehouse,
    segmentOf: unused,
    mrrOf: async () => new Map(),
    worthOf: async () => new Map(),
    erasedSince: async () => [],
  };
  const decided = await decisionsOfDay(parts, { id, timezone: "UTC" } as Organization, {
    organization: { id, zone },
    kind,
    run,
    last,
    rules: [rule],
  });
  return new Map((decided.get(rule) ?? []).map((one) => [one.number, one]));
}

test("by the rules of the last decided day, entities are inside as if nothing had been changed", async () => {
  const [changed, unchanged] = [subject.newOrganization(), subject.newOrganization()];
  const before: Settings = {
    ...defaultSettings,
    healthWeights: { engagement: 100, outlook: 0, momentum: 0, adoption: 0 },
  };
  const after: Settings = {
    ...defaultSettings,
    passiveEvents: ["saved"],
    healthWeights: { engagement: 50, outlook: 0, momentum: 50, adoption: 0 },
  };
  for (const id of [changed, unchanged]) {
    await insertUsers(id, 40);
    await score(id, firstDay, before);
  }
  await score(changed, secondDay, after);
  await score(unchanged, secondDay, before);
  const condition = { kind: "healthBelow", below } as const;
  for (const kind of ["user", "account"] as const) {
    const [now, asBefore] = [
      await decisions(changed, kind, condition),
      await decisions(unchanged, kind, condition),
    ];
    const bySettings = [...now.values()].filter(({ insideBySettings }) => insideBySettings > 0);
    const fired = [...now.values()].filter((one) => one.fired.length > 0);
    expect(bySettings.length).toBeGreaterThan(0);
    if (kind === "user") expect(fired.length).toBeGreaterThan(0);
    expect(fired.length + bySettings.length).toBe(now.size);
    for (const { number } of fired) expect(asBefore.get(number)?.fired).toHaveLength(1);
    for (const { number } of bySettings) expect(asBefore.has(number)).toBe(false);
    for (const { insideBySettings } of asBefore.values()) expect(insideBySettings).toBe(0);
  }
}, 300_000);

test("an event is unseen for days only after it was done, and accounts without members are gone", async () => {
  const id = subject.newOrganization();
  const done = (user: number, account: number, name: string, day: number) =>
    event(id, { user, account, event: name, day, timeMs: (day + 0.5) * msPerDay });
  const daily = (user: number, account: number) =>
    Array.from({ length: 30 }, (_, at) => done(user, account, "opened", secondDay - 30 + at));
  await insertEvents(subject, [
    ...daily(1, 1),
    ...daily(2, 2),
    ...daily(3, 3),
    done(1, 1, "saved", secondDay - 14),
    done(2, 2, "saved", secondDay - 13),
  ]);
  await score(id, firstDay, defaultSettings);
  await score(id, secondDay, defaultSettings);
  const condition = { kind: "keyEventUnseen", event: "saved", days: 14 } as const;
  const ofUsers = await decisions(id, "user", condition);
  expect([...ofUsers].map(([user, { fired }]) => [user, fired.length])).toEqual([[1, 1]]);
  const at = "2024-01-01 00:00:00";
  await subject.warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version)
     SELECT {id:UInt32}, number, toString(number), '', {at:String}, {at:String}, 1 FROM numbers(1, 3)`,
    { id, at },
  );
  // The user of account 1 left for account 2, before the second day.
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, account, first_identified_at, updated_at, version)
     SELECT {id:UInt32}, 1, 'one', '', '{}', 2, {at:String}, {at:String}, 2`,
    { id, at },
  );
  await subject.warehouse.command(
    `INSERT INTO user_versions (organization, user, version, at, traits, account)
     SELECT {id:UInt32}, 1, number, addDays(toDateTime64('1970-01-01 12:00:00', 3, 'UTC'), {day:Int32} + number), '{}', number
     FROM numbers(1, 2)`,
    { id, day: secondDay - 5 },
  );
  const entity = { kind: "account", number: 1 } as const;
  const alerted = { entity, hasLeft: false, daysOut: 0, restsUntil: null, firedOn: firstDay, value: null };
  const ofAccounts = await decisions(id, "account", condition, new Map([[1, alerted]]));
  expect([...ofAccounts].map(([account, { closed }]) => [account, closed.map(({ why }) => why)])).toEqual([
    [1, ["gone"]],
  ]);
}, 300_000);

test("an alert has the MRR of its account in the organization's currency, which is unknown without a rate", async () => {
  const id = subject.newOrganization();
  await subject.warehouse.command(
    `INSERT INTO subscriptions (organization, subscription, version, rules, events, events_hash, of_users, of_accounts,
       "from", status, plan, mrr, currency, quantity, period_end, ends_at, payer_account, payer_user, is_involuntary, last_event)
     SELECT {id:UInt32}, one, 1, 'test', 1, 1, [], [], [toDateTime64('2024-01-01 00:00:00', 3, 'UTC')], [state], ['Pro'], [4900],
       [code], [NULL], [NULL], [NULL], [payer], [1], [false], [toDateTime64('2024-01-01 00:00:00', 3, 'UTC')]
     FROM values('one String, state String, code String, payer UInt32', ('one', 'active', 'USD', 7), ('two', 'active', 'CHF', 9),
       ('three', 'canceled', 'CHF', 10))`,
    { id },
  );
  const settings = { get: async () => ({ settings: { ...defaultSettings, reportingCurrency: "USD" } }) };
  const ledger = { settings } as object as Parameters<typeof mrrReader>[1];
  const mrrOf = mrrReader(subject.warehouse, ledger, () => secondDay * msPerDay);
  const organization = { id, timezone: "UTC" } as Parameters<typeof mrrOf>[0];
  const mrrs = await mrrOf(organization, "account", [7, 8, 9, 10]);
  expect([...mrrs].toSorted(([one], [other]) => one - other)).toEqual([
    [7, 4_900],
    [9, null],
  ]);
  expect((await mrrOf(organization, "user", [1])).size).toBe(0);
});
