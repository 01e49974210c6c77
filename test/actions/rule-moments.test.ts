/** Rules about events, owners and sources: once each, and never for those that were there before. */
import { expect, test } from "bun:test";
import { recordedDays } from "../../server/analytics/entities/recorded-days.ts";
import { Zone, zoneOf } from "../../server/calendar/zone.ts";
import { type PreviewQuestion, previewRule, replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { exclude, recordMembers, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_000;
const nowMs = (today + 0.5) * msPerDay;
const minutes = (count: number) => nowMs + count * 60_000;

async function insertEvent(
  organization: number,
  account: number,
  atMs: number,
  id: string,
  user = 1,
  event = "payment_failed",
): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO billing_events (organization, subscription, user, account, is_account_named, event, time, id, tie_break, properties)
     SELECT {organization:UInt32}, 'one', {user:UInt32}, {account:UInt32}, true, {event:String},
       fromUnixTimestamp64Milli({atMs:Int64}), generateUUIDv4(), {id:String}, '{}'`,
    { organization, user, account, atMs, id, event },
  );
}

const firedOf = ({ fired }: LedgerInMemory) => fired.map(({ entity, eventId }) => [entity, eventId]);

test("a failed payment fires once by its id, and those from before the rule do not", async () => {
  const organization = subject.newOrganization();
  await insertEvent(organization, 5, minutes(-60), "before");
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, { scope: "accounts" });
  await ledger.decide(subject.warehouse, nowMs);
  expect(ledger.fired).toEqual([]);
  await insertEvent(organization, 5, minutes(1), "first");
  await insertEvent(organization, 5, minutes(1), "first");
  await insertEvent(organization, 6, minutes(-30 * 24 * 60), "of last month");
  for (const at of [2, 3, 4]) await ledger.decide(subject.warehouse, minutes(at));
  expect(firedOf(ledger)).toEqual([[{ kind: "account", number: 5 }, "first"]]);
  expect(ledger.fired[0]?.reasons[0]?.text).toBe("A payment failed");
  // An event that is loaded late happened before one that is known.
  await insertEvent(organization, 7, minutes(0.5), "late");
  await ledger.decide(subject.warehouse, minutes(5));
  expect(firedOf(ledger).slice(1)).toEqual([[{ kind: "account", number: 7 }, "late"]]);
});

test("a failed payment between the saving of a rule and its first look fires, and one before does not", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, { scope: "accounts" });
  ledger.savedAtMs = minutes(-2);
  await insertEvent(organization, 5, minutes(-3), "before");
  await insertEvent(organization, 6, minutes(-1), "between");
  for (const at of [0, 1]) await ledger.decide(subject.warehouse, minutes(at));
  expect(firedOf(ledger)).toEqual([[{ kind: "account", number: 6 }, "between"]]);
  // A restored ledger does not know what fired since its backup.
  ledger.takeOver();
  await insertEvent(organization, 7, minutes(2), "since the backup");
  await ledger.decide(subject.warehouse, minutes(3));
  await insertEvent(organization, 8, minutes(4), "after");
  await ledger.decide(subject.warehouse, minutes(5));
  expect(firedOf(ledger).slice(1)).toEqual([[{ kind: "account", number: 8 }, "after"]]);
});

/** Stores events of an import, with the billing events that follow. @param ids with the minutes at which they
 * happened */
async function importFailures(
  organization: number,
  receivedMs: number,
  ids: Readonly<Record<string, number>>,
) {
  for (const [id, at] of Object.entries(ids)) {
    await subject.warehouse.command(
      `INSERT INTO events (organization, user, account, event, time, day, received_at, id, id_is_message_id, message_id, properties,
         is_activity)
       SELECT {organization:UInt32}, 1, 5, 'payment_failed', fromUnixTimestamp64Milli({atMs:Int64}),
         toDate32(fromUnixTimestamp64Milli({atMs:Int64})), fromUnixTimestamp64Milli({receivedMs:Int64}), generateUUIDv4(), false,
         {id:String}, '{"subscriptionId": "one"}', false`,
      { organization, atMs: minutes(at), receivedMs, id },
    );
  }
}

test("an import of new events fires as the API does, and one of history does not", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, { scope: "accounts" });
  const dayMinutes = 24 * 60;
  await ledger.decide(subject.warehouse, nowMs);
  await importFailures(organization, minutes(1), { "before the rule": -30 });
  await ledger.decide(subject.warehouse, minutes(2));
  expect(ledger.fired).toEqual([]);
  const days = { "of the night": 9 * dayMinutes, "of the weekend": 7.5 * dayMinutes, old: 6 * dayMinutes };
  await importFailures(organization, minutes(10 * dayMinutes), days);
  await ledger.decide(subject.warehouse, minutes(10 * dayMinutes));
  expect(ledger.fired.map(({ eventId }) => eventId)).toEqual(["of the weekend", "of the night"]);
});

test("a clock that is set back for a while fires nothing of then, and nothing again", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, { scope: "accounts" });
  const year = 365 * 24 * 60;
  await insertEvent(organization, 5, minutes(-year - 60), "of last year");
  await ledger.decide(subject.warehouse, nowMs);
  await insertEvent(organization, 5, minutes(1), "today");
  await ledger.decide(subject.warehouse, minutes(2));
  for (const at of [3, 4]) await ledger.decide(subject.warehouse, minutes(at - year));
  expect(ledger.fired).toHaveLength(1);
  await insertEvent(organization, 6, minutes(5 - year), "by the wrong clock");
  await ledger.decide(subject.warehouse, minutes(6 - year));
  for (const at of [7, 8]) await ledger.decide(subject.warehouse, minutes(at));
  await insertEvent(organization, 7, minutes(8), "tomorrow");
  await ledger.decide(subject.warehouse, minutes(9));
  expect(ledger.fired.map(({ eventId }) => eventId)).toEqual(["today", "by the wrong clock", "tomorrow"]);
});

test("a clock that was a year ahead for a while fires nothing again, and goes on", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, { scope: "accounts" });
  await ledger.decide(subject.warehouse, nowMs);
  await insertEvent(organization, 5, minutes(1), "today");
  await ledger.decide(subject.warehouse, minutes(2));
  const year = 365 * 24 * 60;
  await insertEvent(organization, 5, minutes(year), "by the wrong clock");
  await ledger.decide(subject.warehouse, minutes(year));
  for (const at of [3, 4]) await ledger.decide(subject.warehouse, minutes(at));
  await insertEvent(organization, 6, minutes(5), "later");
  await ledger.decide(subject.warehouse, minutes(6));
  expect(ledger.fired.map(({ eventId }) => eventId)).toEqual(["today", "by the wrong clock", "later"]);
});

test("a rule about a segment fires for failed payments of its accounts alone", async () => {
  const organization = subject.newOrganization();
  const about = { scope: "accounts", segment: 3 } as const;
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, about);
  ledger.members = [6];
  await ledger.decide(subject.warehouse, nowMs);
  await insertEvent(organization, 5, minutes(1), "of another");
  await insertEvent(organization, 6, minutes(1), "of a member");
  await ledger.decide(subject.warehouse, minutes(2));
  expect(firedOf(ledger)).toEqual([[{ kind: "account", number: 6 }, "of a member"]]);
  // An account that enters the segment later does not fire for what was.
  ledger.members = [5, 6];
  await ledger.decide(subject.warehouse, minutes(3));
  expect(ledger.fired).toHaveLength(1);
});

test("a preview has the failed payments of those that were in the segment on the day", async () => {
  const organization = subject.newOrganization();
  const days = [today - 2, today - 1, today];
  const row = { state: "active", risk: 0.1, health: 50, volume28: 1 } as const;
  const rows = days.flatMap((day) => [5, 6].map((entity) => ({ ...row, entity, day })));
  await storeDays(subject, { organization, kind: "account", days, rows, horizonDays: 14 });
  // The account 6 enters with the second day. One of its payments fails before, one after it.
  for (const [account, daysAgo] of [5, 6].flatMap((one) => [[one, 2] as const, [one, 1] as const])) {
    await insertEvent(organization, account, minutes(-daysAgo * 24 * 60), `${account} ${daysAgo}`);
  }
  for (const account of [5, 6]) await storeAccount(organization, account);
  const segment = 3;
  for (const day of days) {
    const members = day === today - 2 ? [] : [6];
    await recordMembers(subject.warehouse, { organization, segment, of: "account", day, members });
  }
  const findSegment = async () => ({
    id: segment,
    name: "Payers",
    readsScores: false,
    countsDays: false,
    recorded: await recordedDays(subject.warehouse, { organization, segment, content: "" }),
  });
  const preview = await previewRule(
    { warehouse: subject.warehouse, findSegment },
    {
      organization: { id: organization, zone: new Zone("UTC") },
      condition: { kind: "paymentFailed" },
      scope: { kind: "accounts", segment },
      cooldownDays: null,
      horizonDays: 14,
      today,
    },
  );
  expect(preview).toMatchObject({ days, fired: 1, entities: 1 });
});

/** Writes members of accounts, each over what it was before. */
function memberWriter(organization: number) {
  let version = 0;
  return async (user: number, account: number, isOwner: boolean) => {
    version += 1;
    await subject.warehouse.command(
      `INSERT INTO users (organization, user, user_id, email, traits, is_account_owner, account, first_identified_at, updated_at, version)
       SELECT {organization:UInt32}, {user:UInt32}, toString({user:UInt32}), '', '{}', {isOwner:Bool}, {account:UInt32},
         now64(3), now64(3), {version:UInt32}`,
      { organization, user, account, isOwner, version },
    );
  };
}

async function storeAccount(organization: number, account: number): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO accounts (organization, account, account_id, name, created_at, updated_at, version)
     SELECT {organization:UInt32}, {account:UInt32}, toString({account:UInt32}), '', now64(3), now64(3), 1`,
    { organization, account },
  );
}

test("an account fires when its last owner is gone, and not when it never had one", async () => {
  const organization = subject.newOrganization();
  const member = memberWriter(organization);
  await member(1, 1, true);
  await member(2, 1, false);
  await member(3, 2, false);
  const ledger = new LedgerInMemory(organization, { kind: "lastOwnerRemoved" }, { scope: "accounts" });
  const look = (at: number) => ledger.decide(subject.warehouse, minutes(at));
  await look(0);
  await look(1);
  expect(ledger.fired).toEqual([]);
  await member(1, 1, false);
  await look(2);
  await look(3);
  expect(ledger.fired.map(({ entity }) => entity)).toEqual([{ kind: "account", number: 1 }]);
});

/** Accounts with one owner each, of the same number. */
async function storeOwners(organization: number, accounts: number, isOwner: boolean, version: number) {
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, is_account_owner, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, number + 1, toString(number + 1), '', '{}', {isOwner:Bool}, number + 1, now64(3), now64(3),
       {version:UInt32} FROM numbers({accounts:UInt32})`,
    { organization, accounts, isOwner, version },
  );
}

test("owners are read when users were loaded, and states after a start alone", async () => {
  const organization = subject.newOrganization();
  await storeOwners(organization, 3, true, 1);
  const ledger = new LedgerInMemory(organization, { kind: "lastOwnerRemoved" }, { scope: "accounts" });
  ledger.userBatches = 1;
  await ledger.decide(subject.warehouse, nowMs);
  expect([ledger.statesRead, ledger.commits]).toEqual([1, 1]);
  await storeOwners(organization, 1, false, 2);
  await ledger.decide(subject.warehouse, minutes(1));
  expect(ledger.fired).toEqual([]);
  ledger.userBatches = 2;
  await ledger.decide(subject.warehouse, minutes(2));
  await storeOwners(organization, 2, false, 3);
  // An erasure changes users without a batch.
  await ledger.decide(subject.warehouse, minutes(12));
  expect(ledger.fired.map(({ entity }) => entity)).toMatchObject([{ number: 1 }, { number: 2 }]);
  expect(ledger.statesRead).toBe(1);
});

test("owners that left before a takeover do not fire, and later ones fire once, although the process dies now and then", async () => {
  const organization = subject.newOrganization();
  const random = randomOfThisRun("owners");
  const about = { scope: "accounts", random } as const;
  const ledger = new LedgerInMemory(organization, { kind: "lastOwnerRemoved" }, about);
  await storeOwners(organization, 9_500, true, 1);
  await ledger.decide(subject.warehouse, nowMs);
  await storeOwners(organization, 9_000, false, 2);
  ledger.takeOver();
  await ledger.decide(subject.warehouse, minutes(1));
  expect(ledger.fired).toEqual([]);
  await storeOwners(organization, 9_500, false, 3);
  for (const at of [2, 3]) await ledger.decide(subject.warehouse, minutes(at));
  const numbers = ledger.fired.map(({ entity }) => (entity.kind === "source" ? 0 : entity.number));
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 500 }, (_, at) => 9_001 + at));
});

test("a rule about a segment fires for the last owners of its accounts alone", async () => {
  const organization = subject.newOrganization();
  const member = memberWriter(organization);
  await member(1, 1, true);
  await member(2, 2, true);
  const about = { scope: "accounts", segment: 3 } as const;
  const ledger = new LedgerInMemory(organization, { kind: "lastOwnerRemoved" }, about);
  ledger.members = [2];
  const look = (at: number) => ledger.decide(subject.warehouse, minutes(at));
  await look(0);
  await member(1, 1, false);
  await member(2, 2, false);
  await look(1);
  expect(ledger.fired.map(({ entity }) => entity)).toEqual([{ kind: "account", number: 2 }]);
  // An account that enters the segment later lost its owner before.
  ledger.members = [1, 2];
  await look(2);
  expect(ledger.fired).toHaveLength(1);
});

test("a user fires as one of its account, also on the day of its sign-up, and the account's MRR exempts it", async () => {
  const organization = subject.newOrganization();
  const member = memberWriter(organization);
  await member(5, 3, false);
  await member(6, 0, false);
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" });
  ledger.exemptions = { mrrAbove: 5_000 };
  await member(7, 4, false);
  await member(8, 0, false);
  // A payer without a rate of its currency has an unknown MRR, which may be above.
  ledger.mrrs = {
    user: new Map([
      [6, 4_000],
      [7, 10],
      [8, null],
    ]),
    account: new Map([
      [3, 6_000],
      [4, null],
    ]),
  };
  await ledger.decide(subject.warehouse, nowMs);
  for (const user of [5, 6, 7, 8]) await insertEvent(organization, 0, minutes(1), `of ${user}`, user);
  await ledger.decide(subject.warehouse, minutes(2));
  expect(ledger.fired).toMatchObject([
    { entity: { number: 5 }, account: 3, isExempt: true },
    { entity: { number: 6 }, account: null, isExempt: false },
    { entity: { number: 7 }, account: 4, isExempt: true },
    { entity: { number: 8 }, account: null, isExempt: true },
  ]);
});

test("an alert about a scheduled end has the probability 1 and the MRR that ends, and the owner is its assignee", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "cancellationScheduled" }, { scope: "accounts" });
  await ledger.decide(subject.warehouse, nowMs);
  const owner = { id: 12, name: "Olga" };
  const ends = { mrr: 50_000, endingMrr: 43_848, plan: "Team", owner, currency: "USD" };
  ledger.mrrs = {
    user: new Map<number, number>(),
    account: new Map([
      [3, 50_000],
      [4, 900],
    ]),
  };
  ledger.worth = new Map([[3, ends]]);
  for (const account of [3, 4]) {
    await insertEvent(organization, account, minutes(1), `end of ${account}`, 1, "cancellation_scheduled");
  }
  await ledger.decide(subject.warehouse, minutes(2));
  expect(ledger.fired).toMatchObject([
    { entity: { number: 3 }, risk: 1, expectedLoss: 43_848, assignee: 12 },
    // Its subscription is not computed yet: then all of the MRR counts.
    { entity: { number: 4 }, risk: 1, expectedLoss: 900, assignee: null },
  ]);
});

test("an excluded user does not fire, and not for what was when it is included again", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" });
  await ledger.decide(subject.warehouse, nowMs);
  await exclude(subject.warehouse, organization, [5], 1);
  await insertEvent(organization, 0, minutes(1), "of the excluded one", 5);
  await insertEvent(organization, 0, minutes(1), "of another", 6);
  await ledger.decide(subject.warehouse, minutes(2));
  await exclude(subject.warehouse, organization, [], 2);
  await ledger.decide(subject.warehouse, minutes(3));
  expect(firedOf(ledger)).toEqual([[{ kind: "user", number: 6 }, "of another"]]);
});

test("an account whose members are all excluded fires for no moment, neither live nor in the preview", async () => {
  const organization = subject.newOrganization();
  const member = memberWriter(organization);
  for (const account of [1, 2]) await member(account, account, true);
  await exclude(subject.warehouse, organization, [1], 1);
  const rules = (["paymentFailed", "lastOwnerRemoved"] as const).map(
    (kind) => new LedgerInMemory(organization, { kind }, { scope: "accounts" }),
  );
  const look = async (at: number) => {
    for (const rule of rules) await rule.decide(subject.warehouse, minutes(at));
  };
  await look(0);
  for (const account of [1, 2]) {
    await insertEvent(organization, account, minutes(1), `of ${account}`, account);
    await member(account, account, false);
  }
  await look(2);
  expect(rules.flatMap(firedOf).map(([entity]) => entity)).toEqual(
    Array(2).fill({ kind: "account", number: 2 }),
  );
  const rows = [1, 2].map((entity) => ({
    entity,
    day: today,
    state: "active" as const,
    risk: 0.5,
    health: 50,
    volume28: 1,
  }));
  await storeDays(subject, { organization, kind: "account", days: [today], rows });
  const question: PreviewQuestion = {
    organization: { id: organization, zone: zoneOf("UTC") },
    scope: { kind: "accounts" },
    condition: { kind: "paymentFailed" },
    cooldownDays: null,
    horizonDays: 14,
    today,
  };
  const { replays } = await replaysOf(subject.warehouse, question, {});
  expect([...replays].filter((one) => one.fired.length > 0).map(({ entity }) => entity)).toEqual([2]);
});

test("alerts of moments close on the next scored day when their user is excluded or churned, and no others", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" });
  await ledger.decide(subject.warehouse, nowMs);
  for (const user of [5, 6, 7]) await insertEvent(organization, 0, minutes(1), `of ${user}`, user);
  const rowsOf = (day: number) =>
    [5, 6, 7].map((entity) => ({
      entity,
      day,
      state: entity === 6 ? ("churned" as const) : ("active" as const),
      risk: 0.5,
      health: 50,
      volume28: 1,
    }));
  const score = (day: number) =>
    storeDays(subject, { organization, kind: "user", days: [day], rows: rowsOf(day) });
  await score(today);
  await ledger.decide(subject.warehouse, minutes(2));
  await exclude(subject.warehouse, organization, [5], 1);
  // The day was judged before.
  await ledger.decide(subject.warehouse, minutes(3));
  const churned = { entity: { kind: "user", number: 6 }, firedOn: today, eventId: "of 6", why: "churned" };
  expect(ledger.closed).toMatchObject([{ ...churned, day: today }]);
  await score(today + 1);
  for (const hours of [24, 25]) await ledger.decide(subject.warehouse, minutes(hours * 60));
  expect(ledger.closed.slice(1)).toMatchObject([
    { entity: { kind: "user", number: 5 }, firedOn: today, eventId: "of 5", day: today + 1, why: "excluded" },
  ]);
});

test("the alert about the last owner closes when no member is left", async () => {
  const organization = subject.newOrganization();
  const member = memberWriter(organization);
  for (const account of [1, 2]) {
    await member(2 * account, account, true);
    await member(2 * account + 1, account, false);
    await storeAccount(organization, account);
  }
  const ledger = new LedgerInMemory(organization, { kind: "lastOwnerRemoved" }, { scope: "accounts" });
  await ledger.decide(subject.warehouse, nowMs);
  for (const account of [1, 2]) await member(2 * account, account, false);
  await ledger.decide(subject.warehouse, minutes(1));
  expect(ledger.fired).toHaveLength(2);
  for (const user of [2, 3]) await member(user, 0, false);
  await storeDays(subject, { organization, kind: "account", days: [today + 1], rows: [] });
  await ledger.decide(subject.warehouse, minutes(24 * 60));
  expect(ledger.closed).toMatchObject([{ entity: { kind: "account", number: 1 }, why: "gone" }]);
});
