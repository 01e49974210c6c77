import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import type { FrozenBatch, Inbox } from "../../server/ledger/inbox.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { currentSchema, type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { systemTime, type Time } from "../../server/process/time.ts";
import { type FrozenRows, type Warehouse, WarehouseError } from "../../server/warehouse/engine/warehouse.ts";
import { Loader } from "../../server/warehouse/load/loader.ts";
import { append } from "../ledger/writes.ts";
import { turns, until } from "../until.ts";
import { unreliable, withInserts } from "./failures.ts";
import { event, mixedEvents, randomOfThisRun, recount, rollupsOf, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();
let folder = "";
let ledger: Ledger;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-loader-"));
  ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") });
});

afterAll(async () => {
  await ledger.close();
  await rm(folder, { recursive: true });
});

async function appendLines(lines: readonly string[]): Promise<void> {
  const body = lines.map((line) => `${line}\n`).join("");
  await append(ledger, {
    table: "events",
    year: 2026,
    schema: currentSchema.events,
    rows: lines.length,
    body,
  });
}

const utcDay = ({ day }: EventRow) => day;

async function expectStored(organization: number, events: readonly EventRow[]): Promise<void> {
  const rows = await subject.warehouse.rows<{ id: string }>(
    "SELECT replaceAll(toString(id), '-', '') AS id FROM events WHERE organization = {organization:UInt32}",
    { organization },
  );
  expect(rows.map(({ id }) => id).sort()).toEqual(events.map(({ id }) => id).sort());
  expect(await rollupsOf(subject, organization)).toEqual(recount(events, utcDay));
}

function events(organization: number, count: number): EventRow[] {
  return Array.from({ length: count }, (_, n) => event(organization, { user: n % 7 }));
}

/** A loader that runs while `work` does. */
async function whileLoading(
  work: (loader: Loader) => Promise<void>,
  {
    inbox = ledger.inbox,
    warehouse = subject.warehouse,
    time = systemTime,
  }: { inbox?: Inbox; warehouse?: Warehouse; time?: Time } = {},
): Promise<void> {
  const loader = new Loader({ time, inbox, warehouse });
  await loader.replay();
  loader.start();
  try {
    await work(loader);
  } finally {
    await loader.stop();
  }
}

async function drain(loader: Loader): Promise<void> {
  const { newestInboxId } = await ledger.inbox.backlog();
  await loader.drain(newestInboxId);
}

/** The warehouse, with something that happens before every insert. */
function failing(before: (rows: FrozenRows) => Promise<void>): Warehouse {
  return withInserts(subject.warehouse, before);
}

describe("loading", () => {
  test("rows that wait in the inbox are in the warehouse when a drain resolves", async () => {
    const organization = subject.newOrganization();
    const stored = events(organization, 25);
    await whileLoading(async (loader) => {
      await appendLines(stored.slice(0, 10).map(eventRow));
      await drain(loader);
      await expectStored(organization, stored.slice(0, 10));
      await appendLines(stored.slice(10).map(eventRow));
      await drain(loader);
    });
    await expectStored(organization, stored);
    expect(await ledger.inbox.backlog()).toMatchObject({ rows: 0 });
  });

  // How soon is measured by bench/intake.ts.
  test("an acknowledged row becomes visible although no call waits for it", async () => {
    const organization = subject.newOrganization();
    await whileLoading(async () => {
      await appendLines(events(organization, 1).map(eventRow));
      await until("the row is visible", () => subject.count("events", organization));
    });
    expect(await subject.count("events", organization)).toBe(1);
  });

  test("the status tells what was loaded and that all is well", async () => {
    const organization = subject.newOrganization();
    const startedMs = Date.now();
    await whileLoading(async (loader) => {
      await appendLines([...events(organization, 3).map(eventRow), '["bad"]']);
      await drain(loader);
      expect(loader.status()).toMatchObject({
        state: "running",
        rowsLoaded: 3,
        rejectedEvents: 1,
        failure: null,
      });
      expect(loader.status().lastLoadedAtMs).toBeWithin(startedMs, Date.now() + 1);
    });
  });

  test("a drain that cannot end because the loader stops is rejected", async () => {
    const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: subject.warehouse });
    const drained = loader.drain(Number.MAX_SAFE_INTEGER);
    await loader.stop();
    await expect(drained).rejects.toThrow("stopped");
    await expect(loader.drain(1)).rejects.toThrow("stopped");
  });
});

describe("rows that cannot be read", () => {
  test("become rejected events with their reason, and every other row is stored once", async () => {
    const random = randomOfThisRun("bad rows");
    for (const badRows of [1, 2, 7]) {
      const organization = subject.newOrganization();
      const good = events(organization, 60);
      const lines = good.map(eventRow);
      const bad = Array.from({ length: badRows }, (_, n) => `["bad ${organization} ${n}", ${n}]`);
      for (const line of bad) lines.splice(random.between(0, lines.length), 0, line);
      await appendLines(lines);
      await whileLoading(drain);
      await expectStored(organization, good);
      const rejectedRows = await ledger.rejectedEvents.list({}, 1_000);
      const ours = rejectedRows.filter(({ row }) => bad.includes(row));
      expect(ours.map(({ row }) => row).sort()).toEqual([...bad].sort());
      for (const { reason } of ours) expect(reason).toStartWith("Code: 27.");
    }
  });

  test("a batch of such rows alone blocks no other", async () => {
    await appendLines(["[1]", "nonsense", "{}"]);
    const organization = subject.newOrganization();
    await whileLoading(async (loader) => {
      await drain(loader);
      await appendLines(events(organization, 1).map(eventRow));
      await drain(loader);
    });
    expect(await subject.count("events", organization)).toBe(1);
  });

  test("a crash at any insert of the halving stores nothing twice and loses nothing", async () => {
    const random = randomOfThisRun("crash while halving");
    for (let crashAt = 1; crashAt <= 12; crashAt += 1) {
      const organization = subject.newOrganization();
      const good = events(organization, 30);
      const lines = good.map(eventRow);
      const bad = [`["bad ${organization} a"]`, `["bad ${organization} b"]`];
      for (const line of bad) lines.splice(random.between(0, lines.length), 0, line);
      await appendLines(lines);
      await crashAtInsert(crashAt);
      await whileLoading(drain);
      await expectStored(organization, good);
      const rejectedRows = await ledger.rejectedEvents.list({}, 1_000);
      expect(rejectedRows.filter(({ row }) => bad.includes(row))).toHaveLength(2);
    }
  });
});

/** Loads until an insert was done, and then forgets all about it, as a killed process does. */
async function crashAtInsert(number: number): Promise<void> {
  let inserts = 0;
  const crashed = Promise.withResolvers<void>();
  const dying = failing(async (rows) => {
    inserts += 1;
    if (inserts < number) return;
    await subject.warehouse.insertFrozen(rows).catch(() => undefined);
    crashed.resolve();
    await new Promise(() => undefined);
  });
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: dying });
  await Promise.race([crashed.promise, loader.replay()]);
}

describe("failures that say nothing about the rows", () => {
  test("are retried until they are over, with the same token, and shown in the status", async () => {
    const organization = subject.newOrganization();
    const stored = events(organization, 20);
    const tokens = new Set<string>();
    const seen = Promise.withResolvers<void>();
    let failures = 0;
    const warehouse = failing(async ({ token }) => {
      tokens.add(token);
      failures += 1;
      if (failures === 3) await seen.promise;
      // Too many parts, memory, disk: none of them may cost a row.
      if (failures <= 4)
        throw new WarehouseError([252, 241, 243, 159][failures - 1] ?? 0, `failure ${failures}`);
    });
    await appendLines(stored.map(eventRow));
    const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse });
    const replayed = loader.replay();
    await until(
      "two attempts have failed",
      () => loader.status().failure?.attempts,
      (attempts) => attempts === 2,
    );
    expect(loader.status().failure).toMatchObject({ message: "failure 2", attempts: 2 });
    seen.resolve();
    await replayed;
    expect(loader.status().failure).toBeNull();
    expect(tokens.size).toBe(1);
    await expectStored(organization, stored);
    await loader.stop();
  });

  test("of the ledger's process are retried too, at freeze, read, finish and backlog", async () => {
    const organization = subject.newOrganization();
    const stored = events(organization, 20);
    await appendLines(stored.map(eventRow));
    await whileLoading(drain, { inbox: unreliable(ledger.inbox) });
    await expectStored(organization, stored);
  });

  test("a stop does not wait for them", async () => {
    await appendLines(events(subject.newOrganization(), 1).map(eventRow));
    const broken = failing(() => Promise.reject(new WarehouseError(243, "no space left")));
    const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: broken });
    const replayed = loader.replay();
    await until("an attempt has failed", () => loader.status().failure);
    await loader.stop();
    await expect(replayed).rejects.toThrow("stopped");
    await whileLoading(drain);
  });
});

/** The pace of a loader that looks for rows as often as it can. */
const { intervals } = systemTime;
const restless: Time = {
  ...systemTime,
  intervals: { ...intervals, loadMs: 1, quietLoadMs: 1, emptyInboxMs: 1 },
};

/** An inbox, and how often a loader asked it to freeze rows. */
function freezesOf(inbox: Inbox): { readonly inbox: Inbox; readonly count: number } {
  const counted = {
    count: 0,
    inbox: {
      freeze(maxRows: number) {
        counted.count += 1;
        return inbox.freeze(maxRows);
      },
      read: (batch: FrozenBatch) => inbox.read(batch),
      finish: (...done: Parameters<Inbox["finish"]>) => inbox.finish(...done),
      backlog: () => inbox.backlog(),
    },
  };
  return counted;
}

const emptyInbox: Inbox = {
  freeze: async () => [],
  read: () => Promise.reject(new Error("nothing is frozen")),
  finish: () => Promise.reject(new Error("nothing is frozen")),
  backlog: () => ledger.inbox.backlog(),
};

describe("pausing", () => {
  test("begins at a batch's edge; nothing is loaded until it ends, and then everything is", async () => {
    const organization = subject.newOrganization();
    const stored = mixedEvents(randomOfThisRun("pause"), organization, 40);
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const freezes = freezesOf(ledger.inbox);
    const warehouse = failing(() => {
      begun.resolve();
      return goOn.promise;
    });
    await whileLoading(
      async (loader) => {
        await appendLines(stored.slice(0, 20).map(eventRow));
        await begun.promise;
        const paused = loader.pause();
        await turns(20);
        expect(loader.status().state).toBe("running");
        goOn.resolve();
        await paused;
        const before = freezes.count;
        expect(loader.status().state).toBe("paused");
        expect(await subject.count("events", organization)).toBe(20);
        expect(await ledger.inbox.backlog()).toMatchObject({ rows: 0 });
        await appendLines(stored.slice(20).map(eventRow));
        const drained = drain(loader);
        const other = freezesOf(emptyInbox);
        const otherLoader = new Loader({ time: restless, inbox: other.inbox, warehouse });
        otherLoader.start();
        await until("a loader that is not paused has looked ten times", () => other.count >= 10);
        await otherLoader.stop();
        expect(freezes.count).toBe(before);
        expect(await subject.count("events", organization)).toBe(20);
        loader.resume();
        await drained;
      },
      { warehouse, inbox: freezes.inbox, time: restless },
    );
    await expectStored(organization, stored);
  });

  test("two pauses take turns", async () => {
    await whileLoading(async (loader) => {
      await loader.pause();
      let second = false;
      const paused = loader.pause().then(() => {
        second = true;
      });
      await turns(20);
      expect(second).toBe(false);
      loader.resume();
      await paused;
      expect(loader.status().state).toBe("paused");
      loader.resume();
      expect(loader.status().state).toBe("running");
    });
  });
});
