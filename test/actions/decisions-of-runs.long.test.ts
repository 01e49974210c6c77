/** Decisions about real runs: a refit of the model is told from a change of behaviour, a change of settings
 * is taken over, events that were done, and accounts without members. */
import { expect, test } from "bun:test";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { DailyCondition, ScoreCondition } from "../../server/features/alerts/rules/conditions.ts";
import { decisionsOfDay, type RuleOnDay } from "../../server/features/alerts/rules/decide-day.ts";
import { mrrReader } from "../../server/features/alerts/rules/mrr.ts";
import { replaysOf } from "../../server/features/alerts/rules/preview.ts";
import type { EntityStateRow } from "../../server/features/alerts/store/decisions.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { scoresByRules } from "../../server/scoring/preview/scores-by-rules.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { runsBetween } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { Random } from "../../simulation/random.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";

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
    before: "days" in condition && condition.kind === "healthDown" ? last : undefined,
    reference: last,
    membersBefore: undefined,
    states,
    decidedUpto: -1,
    times: { cooldownDays: 14, exitDays: 2 },
    takesOver: false,
    isBySettings: false,
    due: { version: { condition, exemptions: {} } },
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

/** Health on the first day by the model and settings of the second, and on the second. */
async function healths(id: number, kind: EntityKind) {
  const span = { fromDay: firstDay, toDay: secondDay };
  const [last, run] = await runsBetween(subject.warehouse, { organization: id, kind }, span);
  if (last === undefined || run === undefined) throw new Error("both days are scored");
  const organization = { id, zone };
  const read = (now: typeof run) => {
    const question = { organization, kind, now, rules: run };
    return scoresByRules<{ entity: number; health: number }>(subject.warehouse, question, [
      "entity",
      "health",
    ]);
  };
  const by = (rows: Awaited<ReturnType<typeof read>>) => new Map(rows.map((row) => [row.entity, row.health]));
  return { before: by(await read(last)), now: by(await read(run)) };
}

test("who was inside on the last decided day by the weights of now, or fell by them alone, is taken over", async () => {
  const id = subject.newOrganization();
  const before: Settings = {
    ...defaultSettings,
    healthWeights: { engagement: 100, outlook: 0, momentum: 0, adoption: 0 },
  };
  const after: Settings = {
    ...defaultSettings,
    passiveEvents: ["saved"],
    healthWeights: { engagement: 50, outlook: 0, momentum: 50, adoption: 0 },
  };
  await insertUsers(id, 40);
  await score(id, firstDay, before);
  await score(id, secondDay, after);
  const crossings = { fired: 0, bySettings: 0 };
  for (const kind of ["user", "account"] as const) {
    const of = await healths(id, kind);
    for (const condition of [
      { kind: "healthBelow", below } as const,
      { kind: "healthDown", by: 10, days: 10 } as const,
    ]) {
      const decided = await decisions(id, kind, condition);
      for (const [entity, { fired, insideBySettings }] of decided) {
        const [was = Number.NaN, is = Number.NaN] = [of.before.get(entity), of.now.get(entity)];
        const isReal = condition.kind === "healthBelow" ? !(was < below) : was - is >= condition.by;
        expect([entity, fired.length, insideBySettings]).toEqual([entity, isReal ? 1 : 0, isReal ? 0 : 1]);
        crossings.fired += fired.length;
        crossings.bySettings += insideBySettings;
      }
    }
  }
  expect(crossings.fired).toBeGreaterThan(3);
  expect(crossings.bySettings).toBeGreaterThan(3);
});

test("the preview has the alerts of a live run over refits and a change of settings", async () => {
  const id = subject.newOrganization();
  await insertUsers(id, 40);
  const conditions = [
    { kind: "healthBelow", below: 50 },
    { kind: "healthDown", by: 15, days: 7 },
    { kind: "keyEventUnseen", event: "saved", days: 5 },
  ] as const;
  const ledgers = conditions.map((condition) => new LedgerInMemory(id, condition));
  const changed: Settings = {
    ...defaultSettings,
    healthWeights: { engagement: 0, outlook: 0, momentum: 100, adoption: 0 },
  };
  for (let day = secondDay - 9; day <= secondDay; day += 1) {
    await score(id, day, day < secondDay - 3 ? defaultSettings : changed);
    for (const ledger of ledgers) await ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
  }
  let [fired, bySettings] = [0, 0];
  for (const [at, condition] of conditions.entries()) {
    const horizonDays = defaultSettings.churnHorizonDays;
    const scope = { kind: "users" } as const;
    const question = { organization: { id, zone }, scope, condition, cooldownDays: null, horizonDays };
    const { replays } = await replaysOf(subject.warehouse, { ...question, today: secondDay }, {});
    const all = [...replays];
    const foretold = all.flatMap(({ entity, fired }) => fired.map(({ day }) => `${day} ${entity}`));
    const ledger = ledgers[at];
    const live = ledger?.fired.map(
      ({ entity, day }) => `${day} ${entity.kind === "user" ? entity.number : 0}`,
    );
    expect(foretold.toSorted()).toEqual(live?.toSorted() ?? []);
    const own = all.reduce((sum, one) => sum + one.insideBySettings, 0);
    // The live run also counts those that it took over on its first day.
    expect(ledger?.insideBySettings).toBeGreaterThanOrEqual(own);
    fired += foretold.length;
    bySettings += own;
  }
  expect(fired).toBeGreaterThan(3);
  expect(bySettings).toBeGreaterThan(3);
});

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
});

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
