/** Rules about events, owners and sources: once each, and never for those that were there before. */
import { expect, test } from "bun:test";
import { previewRule } from "../../server/actions/rules/preview.ts";
import { DaySets } from "../../server/analytics/segments/past/day-sets.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { SourceStatus } from "../../server/scoring/data-quality/source-watch.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_000;
const nowMs = (today + 0.5) * msPerDay;
const minutes = (count: number) => nowMs + count * 60_000;

async function insertFailure(organization: number, account: number, atMs: number, id: string): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO billing_events (organization, subscription, user, account, is_account_named, event, time, id, tie_break, properties)
     SELECT {organization:UInt32}, 'one', 1, {account:UInt32}, true, 'payment_failed', fromUnixTimestamp64Milli({atMs:Int64}),
       generateUUIDv4(), {id:String}, '{}'`,
    { organization, account, atMs, id },
  );
}

const firedOf = ({ fired }: LedgerInMemory) => fired.map(({ entity, eventId }) => [entity, eventId]);

test("a failed payment fires once by its id, and those from before the rule do not", async () => {
  const organization = subject.newOrganization();
  await insertFailure(organization, 5, minutes(-60), "before");
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, { scope: "accounts" });
  await ledger.decide(subject.warehouse, nowMs);
  expect(ledger.fired).toEqual([]);
  await insertFailure(organization, 5, minutes(1), "first");
  await insertFailure(organization, 5, minutes(1), "first");
  await insertFailure(organization, 6, minutes(-30 * 24 * 60), "of last month");
  for (const at of [2, 3, 4]) await ledger.decide(subject.warehouse, minutes(at));
  expect(firedOf(ledger)).toEqual([[{ kind: "account", number: 5 }, "first"]]);
  expect(ledger.fired[0]?.reasons[0]?.text).toBe("A payment failed");
  // An event that is loaded late happened before one that is known.
  await insertFailure(organization, 7, minutes(-5), "late");
  await ledger.decide(subject.warehouse, minutes(5));
  expect(firedOf(ledger).slice(1)).toEqual([[{ kind: "account", number: 7 }, "late"]]);
});

test("a rule about a segment fires for failed payments of its accounts alone", async () => {
  const organization = subject.newOrganization();
  const about = { scope: "accounts", segment: 3 } as const;
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" }, about);
  ledger.members = [6];
  await ledger.decide(subject.warehouse, nowMs);
  await insertFailure(organization, 5, minutes(1), "of another");
  await insertFailure(organization, 6, minutes(1), "of a member");
  await ledger.decide(subject.warehouse, minutes(2));
  expect(firedOf(ledger)).toEqual([[{ kind: "account", number: 6 }, "of a member"]]);
  // An account that enters the segment later does not fire for what was.
  ledger.members = [5, 6];
  await ledger.decide(subject.warehouse, minutes(3));
  expect(ledger.fired).toHaveLength(1);
});

test("a failed payment of a user is exempt by the MRR of the account, also before there are scores", async () => {
  const organization = subject.newOrganization();
  const member = memberWriter(organization);
  await member(1, 5, false);
  const ledger = new LedgerInMemory(organization, { kind: "paymentFailed" });
  ledger.exemptions = { mrrAbove: 1_000 };
  await ledger.decide(subject.warehouse, nowMs);
  const failing = async (mrr: number, at: number) => {
    ledger.mrrs = { user: new Map(), account: new Map([[5, mrr]]) };
    await insertFailure(organization, 5, minutes(at), `failure ${at}`);
    await ledger.decide(subject.warehouse, minutes(at + 1));
  };
  await failing(1_000, 1);
  await failing(1_001, 3);
  expect(ledger.fired).toMatchObject([
    { entity: { kind: "user", number: 1 }, account: 5, isExempt: false },
    { entity: { kind: "user", number: 1 }, account: 5, isExempt: true },
  ]);
});

test("a preview has the failed payments of those that were in the segment on the day", async () => {
  const organization = subject.newOrganization();
  const days = [today - 2, today - 1, today];
  const row = { state: "active", risk: 0.1, health: 50, volume28: 1 } as const;
  const rows = days.flatMap((day) => [5, 6].map((entity) => ({ ...row, entity, day })));
  await storeDays(subject, { organization, kind: "account", days, rows, horizonDays: 14 });
  // The account 6 enters with the second day. One of its payments fails before, one after it.
  for (const account of [5, 6]) {
    for (const daysAgo of [2, 1]) {
      await insertFailure(organization, account, minutes(-daysAgo * 24 * 60), `${account} ${daysAgo}`);
    }
  }
  const membersOn = async (asked: readonly number[]) => {
    const sets = new DaySets(7);
    const all = { sets: new DaySets(1).not(), entity: 0 };
    sets.addFrom(6, all, { from: asked.indexOf(today - 1), to: asked.length });
    return sets;
  };
  const findSegment = async () => ({ name: "Payers", readsScores: false, sinceDay: null, membersOn });
  const preview = await previewRule(
    { warehouse: subject.warehouse, findSegment },
    {
      ...{ organization: { id: organization, zone: new Zone("UTC") }, condition: { kind: "paymentFailed" } },
      ...{ scope: { kind: "accounts", segment: 3 }, cooldownDays: null, horizonDays: 14, today },
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

test("a source fires when it falls silent, and its alert closes with its next item", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "sourceSilent" });
  let states: Record<string, "sending" | "silent"> = { segment: "sending", stripe: "silent" };
  ledger.sources = {
    statuses: async () =>
      Object.entries(states).map(
        ([source, state]) => ({ source, state, lastHeardMs: 0 }) as object as SourceStatus,
      ),
  };
  const look = (at: number) => ledger.decide(subject.warehouse, minutes(at));
  await look(0);
  expect(ledger.fired).toEqual([]);
  states = { segment: "silent", stripe: "silent" };
  await look(1);
  await look(2);
  expect(ledger.fired.map(({ entity }) => entity)).toEqual([{ kind: "source", source: "segment" }]);
  expect(ledger.fired[0]?.reasons[0]?.text).toBe("No data since 1970-01-01T00:00:00.000Z");
  states = { segment: "sending", stripe: "sending" };
  await look(3);
  expect(ledger.closed).toMatchObject([{ entity: { kind: "source", source: "segment" }, why: "resolved" }]);
});
