/** Runs on an engine of their own: what may not change a score, what is done again, and when runs happen by themselves. */
import { describe, expect, test } from "bun:test";
import { pino } from "pino";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { DayCount, Organization } from "../../server/ledger/ledger.ts";
import type { RunBody } from "../../server/scoring/run/records.ts";
import { listRuns } from "../../server/scoring/run/records.ts";
import { Scheduler } from "../../server/scoring/run/scheduler.ts";
import { type KindSummary, scoreDay } from "../../server/scoring/run/score-day.ts";
import { Scoring } from "../../server/scoring/run/scoring.ts";
import { dataStoppedSince, newestRun } from "../../server/scoring/run/status.ts";
import { eraseUser } from "../../server/warehouse/erase.ts";
import { type EventRow, userVersionRow } from "../../server/warehouse/rows.ts";
import type { Warehouse } from "../../server/warehouse/warehouse.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const settings = defaultSettings;

type Row = Record<string, unknown>;

/** All scores of a day, without what differs from run to run. */
function scoresOf(organization: number, kind: "user" | "account", day: number): Promise<Row[]> {
  return subject.warehouse.rows<Row>(
    `SELECT * EXCEPT (organization, version) FROM ${kind}_scores FINAL
     WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})
     ORDER BY ${kind}`,
    { organization, day },
  );
}

function simulatedEvents(organization: number, count: number, days: number): EventRow[] {
  return simulateLogs(count, days, 7).flatMap(({ log }, index) =>
    log.map(({ day, event: name }) =>
      event(organization, {
        ...{ user: index + 1, account: 1 + (index % 7), event: name, day },
        timeMs: day * msPerDay + 43_200_000,
      }),
    ),
  );
}

function on(organization: number, number: number, day: number, name = "opened"): EventRow {
  return event(organization, { user: number, account: 1, event: name, day, timeMs: day * msPerDay + 1_000 });
}

function score(id: number, day: number, warehouse: Warehouse = subject.warehouse): Promise<KindSummary[]> {
  return scoreDay(warehouse, { organization: { id, zone, settings }, day, report: () => undefined });
}

async function runOf(organization: number, day: number): Promise<RunBody> {
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run?.day !== day) throw new Error(`there is no run of day ${day}`);
  return run.body;
}

/** Says of users which plan they had, and from when. */
async function plans(organization: number, count: number, atMs: number, plan: string): Promise<void> {
  await subject.insert(
    "user_versions",
    Array.from({ length: count }, (_, index) =>
      userVersionRow(user(organization, `u${index}`, { number: index + 1, version: atMs }), {
        atMs,
        traits: { plan: index % 2 === 0 ? plan : "free" },
        account: 0,
      }),
    ),
  );
}

describe("a run", () => {
  test("knows nothing of what comes at or after its day: neither events nor traits", async () => {
    const [without, with_] = [subject.newOrganization(), subject.newOrganization()];
    const day = simulatedFrom + 320;
    const events = simulatedEvents(0, 260, 360);
    const past = events.filter((one) => one.day < day);
    await insertEvents(
      subject,
      past.map((one) => ({ ...one, organization: without })),
    );
    await insertEvents(
      subject,
      events.map((one) => ({ ...one, organization: with_ })),
    );
    for (const organization of [without, with_]) await plans(organization, 260, 1_000, "pro");
    await plans(with_, 260, day * msPerDay, "gone");
    await score(without, day);
    await score(with_, day);
    const [runWithout, runWith] = [await runOf(without, day), await runOf(with_, day)];
    expect(runWith.choice).toEqual(runWithout.choice);
    expect(runWith.backtest.folds).toBeGreaterThan(0);
    for (const kind of ["user", "account"] as const) {
      const rows = await scoresOf(without, kind, day);
      expect(rows.length).toBeGreaterThan(5);
      expect(await scoresOf(with_, kind, day)).toEqual(rows);
    }
  }, 60_000);

  test.each<readonly [string, (organization: number) => EventRow[]]>([
    ["one user on one day", (id) => [on(id, 1, 99)]],
    ["five users", (id) => [1, 2, 3, 4, 5].map((each) => on(id, each, 60 + each))],
    [
      "everybody every day",
      (id) =>
        all(
          id,
          80,
          Array.from({ length: 60 }, (_, index) => 40 + index),
        ),
    ],
    ["everybody silent for long", (id) => all(id, 80, [10, 11, 12])],
    ["a single week", (id) => all(id, 80, [94, 96])],
  ])("of %s has finite scores", async (_title, eventsOf) => {
    const organization = subject.newOrganization();
    await insertEvents(subject, eventsOf(organization));
    const [users] = await score(organization, 100);
    const rows = await scoresOf(organization, "user", 100);
    expect(rows).toHaveLength(users?.entities ?? -1);
    for (const row of rows) {
      for (const name of ["engagement", "health"]) expect(row[name]).toBeWithin(0, 100.0001);
      if (row.state === "churned") expect(row.risk).toBeNull();
      else expect(row.risk).toBeWithin(0, 1.0000001);
    }
  });

  test("of nobody writes nothing", async () => {
    const organization = subject.newOrganization();
    expect(await score(organization, 100)).toEqual([]);
    await insertEvents(subject, [on(organization, 1, 100)]);
    expect(await score(organization, 100)).toEqual([]);
  });

  test("that was cut off leaves the scores of before, and is simply done again", async () => {
    const organization = subject.newOrganization();
    await insertEvents(subject, all(organization, 10, [80, 85, 90]));
    await score(organization, 100);
    const before = await runOf(organization, 100);
    const cutOff: Warehouse = {
      ...subject.warehouse,
      rows: (...query) => subject.warehouse.rows(...query),
      command: async (sql, ...rest) => {
        if (sql.includes("INSERT INTO account_scores")) throw new Error("killed");
        return subject.warehouse.command(sql, ...rest);
      },
    };
    await insertEvents(subject, all(organization, 5, [99]));
    await expect(score(organization, 100, cutOff)).rejects.toThrow("killed");
    await score(organization, 100);
    expect((await runOf(organization, 100)).rowsVersion).toBeGreaterThan(before.rowsVersion);
    const idle = (await scoresOf(organization, "user", 100)).map(({ idle_days }) => idle_days);
    expect(idle).toEqual([1, 1, 1, 1, 1, 10, 10, 10, 10, 10]);
    expect((await scoresOf(organization, "account", 100)).map(({ idle_days }) => idle_days)).toEqual([1]);
  });

  test("leaves nothing of a user who is erased, and the accounts' scores", async () => {
    const organization = subject.newOrganization();
    await insertEvents(subject, all(organization, 3, [80, 90]));
    await score(organization, 95);
    await eraseUser(subject.warehouse, { organization, user: 2 });
    expect((await scoresOf(organization, "user", 95)).map((row) => row.user)).toEqual([1, 3]);
    expect(await scoresOf(organization, "account", 95)).toHaveLength(1);
  });
});

function all(organization: number, users: number, days: readonly number[]): EventRow[] {
  return Array.from({ length: users }, (_, index) =>
    days.map((day) => on(organization, index + 1, day)),
  ).flat();
}

/** A scheduler whose ledger counts what the test inserts, on a clock that the test sets. */
class Installation {
  today: number;
  readonly #organizations: Organization[] = [];
  readonly #counts = new Map<number, Map<number, number>>();
  #inserted = 0;
  #scheduler: Scheduler;

  constructor(today: number) {
    this.today = today;
    this.#scheduler = this.#start();
  }

  /** As after a restart: nothing is remembered. */
  restart(): void {
    this.#scheduler = this.#start();
  }

  organization(timezone = "UTC"): number {
    const id = subject.newOrganization();
    this.#organizations.push({
      ...{ id, name: `organization ${id}`, timezone, requestsPerSecond: 1, itemsPerSecondSet: null },
      ...{ keepEventsDays: null, eventsFromDay: null, createdAtMs: 0 },
    });
    return id;
  }

  async insert(events: readonly EventRow[]): Promise<void> {
    await insertEvents(subject, events);
    this.#inserted += events.length;
    for (const { organization, day } of events) {
      const days = this.#counts.get(organization) ?? new Map<number, number>();
      days.set(day, (days.get(day) ?? 0) + 1);
      this.#counts.set(organization, days);
    }
  }

  work(): Promise<number> {
    return this.#scheduler.work();
  }

  /** Until there is nothing left to do. */
  async finish(): Promise<void> {
    for (let idle = 0; idle < 3; ) idle = (await this.work()) === 0 ? idle + 1 : 0;
  }

  #start(): Scheduler {
    const host = {
      warehouse: subject.warehouse,
      drain: async () => undefined,
      whileNothingChanges: <Result>(work: () => Promise<Result>) => work(),
    };
    const dayCounts = async (organization: number): Promise<DayCount[]> =>
      [...(this.#counts.get(organization) ?? [])].map(([utcDay, events]) => ({
        ...{ organization, utcDay, events, checksum: 0 },
      }));
    const log = pino({ level: "silent" });
    const nowMs = () => (this.today + 0.5) * msPerDay;
    const ledger = {
      organizations: {
        list: async () => this.#organizations,
        create: refuse,
        set: refuse,
        eventsDropped: refuse,
      },
      inbox: {
        backlog: async () => ({ rows: 0, bytes: 0, newestInboxId: this.#inserted, loadedUptoInboxId: 0 }),
        freeze: refuse,
        read: refuse,
        finish: refuse,
      },
      dayCounts,
      settings: {
        get: async () => ({ version: 0, settings, changedAtMs: null, changedBy: null }),
        change: refuse,
        history: refuse,
      },
    };
    const scoring = new Scoring({ host, ledger, log, nowMs });
    return new Scheduler({
      scoring,
      host,
      ledger,
      log,
      nowMs,
      rests: { beforeTodayMs: 0, shareBeforeHistory: 0 },
    });
  }
}

function refuse(): never {
  throw new Error("scoring has no business with this");
}

async function runDays(organization: number): Promise<number[]> {
  const runs = await listRuns(subject.warehouse, organization);
  return runs.filter(({ kind, stale }) => kind === "account" && !stale).map(({ day }) => day);
}

describe("by itself", () => {
  test("today is scored first, then the past of an import, of each organization in turn", async () => {
    const installation = new Installation(200);
    const [first, second] = [installation.organization(), installation.organization()];
    for (const id of [first, second]) await installation.insert(all(id, 6, [185, 190, 195, 199]));
    expect(await installation.work()).toBe(2);
    expect([await runDays(first), await runDays(second)]).toEqual([[200], [200]]);
    await installation.finish();
    expect(await runDays(first)).toEqual([192, 193, 194, 195, 196, 197, 198, 199, 200]);
    installation.restart();
    expect(await installation.work()).toBe(0);
    installation.today = 201;
    expect(await installation.work()).toBe(2);
    expect((await runDays(second)).at(-1)).toBe(201);
  }, 60_000);

  test("events that come late are in the scores of all later days, and of no earlier one", async () => {
    const installation = new Installation(200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [188, 190]));
    await installation.finish();
    const before = await scoresOf(id, "user", 196);
    await installation.insert([on(id, 1, 196)]);
    installation.restart();
    await installation.work();
    expect((await scoresOf(id, "user", 200)).map(({ idle_days }) => idle_days)).toEqual([
      4, 10, 10, 10, 10, 10,
    ]);
    await installation.finish();
    expect((await scoresOf(id, "user", 197))[0]).toMatchObject({ idle_days: 1 });
    expect(await scoresOf(id, "user", 196)).toEqual(before);
    expect((await listRuns(subject.warehouse, id)).filter(({ stale }) => stale)).toEqual([]);
  }, 60_000);

  test("events of today change nothing", async () => {
    const installation = new Installation(200);
    const id = installation.organization();
    await installation.insert(all(id, 6, [195, 198]));
    await installation.finish();
    await installation.insert(all(id, 6, [200]));
    expect(await installation.work()).toBe(0);
  }, 60_000);

  test("while data has stopped scores stay as they were; a week without data is no period afterwards", async () => {
    const installation = new Installation(260);
    const id = installation.organization();
    const days = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);
    await installation.insert(all(id, 12, days(150, 260)));
    await installation.work();
    installation.today = 265;
    await installation.work();
    // One silent day is no outage yet, two are: nobody has scores that count five days of silence.
    expect((await runDays(id)).at(-1)).toBe(261);
    const organization = { id, zone, settings };
    expect(await dataStoppedSince(subject.warehouse, organization, 265)).toBe(260);
    await installation.insert(all(id, 12, days(267, 274)));
    installation.today = 274;
    expect(await installation.work()).toBe(1);
    const rows = await scoresOf(id, "user", 274);
    expect(await dataStoppedSince(subject.warehouse, organization, 274)).toBeNull();
    // Weeks from 148 on are 18; one of them had no data, and neither is it missing among the active ones.
    expect(rows.map(({ x, t, n }) => [x, t, n])).toEqual(Array.from({ length: 12 }, () => [16, 16, 16]));
  }, 60_000);
});
