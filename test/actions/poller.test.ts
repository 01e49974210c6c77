/** The poller of background jobs: what wakes a job, and that nothing is lost when nobody does. */
import { afterEach, expect, test } from "bun:test";
import { type Job, Poller } from "../../server/features/poller.ts";
import type { Logger } from "../../server/process/log.ts";
import { until } from "../until.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";

const subject = new WarehouseUnderTest();
const warned: unknown[] = [];
const log = { debug: () => undefined, warn: (what: unknown) => warned.push(what) } as object as Logger;
const pollers: Poller[] = [];

function polling(jobs: readonly Job[], ms: number): Poller {
  const poller = new Poller(jobs, log);
  pollers.push(poller);
  poller.start(ms);
  return poller;
}

afterEach(async () => {
  for (const poller of pollers.splice(0)) await poller.stop();
});

/** A job that counts its runs. */
class Counted implements Job {
  runs = 0;
  readonly name: string;
  readonly followsLoads: boolean;
  readonly #work: () => Promise<void>;

  constructor(name: string, work: () => Promise<void> = async () => undefined, followsLoads = false) {
    this.name = name;
    this.followsLoads = followsLoads;
    this.#work = work;
  }

  readonly run = async () => {
    this.runs += 1;
    await this.#work();
  };
}

test("a job that fails runs again, and one that takes long runs once and delays no other", async () => {
  const ends = Promise.withResolvers<void>();
  const failing = new Counted("failing", () => Promise.reject(new Error("It fails.")));
  const long = new Counted("long", () => ends.promise);
  const poller = polling([failing, long], 16);
  await until("five runs", () => failing.runs >= 5);
  expect(long.runs).toBe(1);
  expect(warned).toContainEqual(expect.objectContaining({ work: "failing" }));
  let hasStopped = false;
  const stopped = poller.stop().then(() => {
    hasStopped = true;
  });
  await Promise.resolve();
  expect(hasStopped).toBe(false);
  ends.resolve();
  await stopped;
});

test("a batch wakes the jobs that follow loads, soon and alone", async () => {
  const [following, other] = [new Counted("moments", undefined, true), new Counted("digest")];
  const poller = polling([following, other], 8_000);
  for (let batch = 0; batch < 5; batch += 1) poller.wake();
  await until("the job was woken", () => following.runs > 0);
  expect([following.runs, other.runs]).toEqual([1, 0]);
});

const today = 20_000;
const nowMs = today * msPerDay + 12 * 3_600_000;
const minutes = (count: number) => nowMs + count * 60_000;

async function insertPaymentFailed(organization: number): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO billing_events (organization, subscription, user, account, is_account_named, event, time, id, tie_break, properties)
     SELECT {organization:UInt32}, 'one', 1, 1, true, 'payment_failed', fromUnixTimestamp64Milli({at:Int64}), generateUUIDv4(), 'one', '{}'`,
    { organization, at: minutes(1) },
  );
}

function memberOf(organization: number, version: number, isOwner: boolean): Promise<void> {
  return subject.warehouse.command(
    `INSERT INTO users (organization, user, user_id, email, traits, is_account_owner, account, first_identified_at, updated_at, version)
     SELECT {organization:UInt32}, 1, 'one', '', '{}', {isOwner:Bool}, 1, now64(3), now64(3), {version:UInt32}`,
    { organization, version, isOwner },
  );
}

test.each(["paymentFailed", "lastOwnerRemoved"] as const)(
  "after a kill between a batch and its hook, the alert of %s is decided once",
  async (kind) => {
    const organization = subject.newOrganization();
    await memberOf(organization, 1, true);
    const ledger = new LedgerInMemory(organization, { kind }, { scope: "accounts" });
    ledger.userBatches = 1;
    await ledger.decide(subject.warehouse, nowMs);
    // The batch is in the warehouse, and the process dies before its hook wakes anyone.
    await insertPaymentFailed(organization);
    await memberOf(organization, 2, false);
    ledger.restart();
    ledger.userBatches = 0;
    const moments = new Counted("moments", () => ledger.decide(subject.warehouse, minutes(2)), true);
    const poller = polling([moments], 80);
    await until("the alert is decided", () => ledger.fired.length > 0);
    const { runs } = moments;
    poller.wake();
    await until("the job ran twice more", () => moments.runs >= runs + 3);
    expect(ledger.fired.map(({ entity }) => entity)).toEqual([{ kind: "account", number: 1 }]);
  },
);
