/** A scheduler for tests, on a clock that the test sets. */

import { pino } from "pino";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import type { OutageDays } from "../../server/ledger/stores/outages.ts";
import { systemTime } from "../../server/process/time.ts";
import { type EarlierScores, Scheduler } from "../../server/scoring/run/scheduler.ts";
import { Scoring } from "../../server/scoring/run/scoring.ts";
import type { StoppedData } from "../../server/scoring/run/source-watch.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { LoadedDays } from "../../server/warehouse/load/loaded-days.ts";
import { insertEvents, msPerDay, type WarehouseUnderTest } from "../warehouse/support.ts";

type Subject = Pick<WarehouseUnderTest, "warehouse" | "newOrganization" | "insert">;

/** A scheduler whose loader brings what the test inserts, on a clock that the test sets. */
export class Installation {
  today: number;
  settings: Settings = defaultSettings;
  stopped: StoppedData | null = null;
  lastBulkLoadAtMs: number | null = null;
  declaredOutages: readonly OutageDays[] = [];
  rebuildsPending: readonly number[] = [];
  /** Of all organizations: they wait for the loader. */
  waitingRows = 0;
  /** Read by restart(). */
  longestWaitForLoaderMs = 3_600_000;
  /** Read by restart(). */
  restAfterFailureMs = 0;
  /** Read by restart(): how long a run of today waits after the last one. */
  restBeforeTodayMs = 0;
  /** Read by restart(): how often an organization without work is looked at. */
  restBetweenChecksMs = 0;
  /** Read by restart(). */
  restTimesRunBeforeLateEvents = 0;
  /** Read by restart(): how long runs wait after the last rows of a load in bulk, and at most. */
  restForBulkLoad = { overAfterMs: 0, longestMs: 3_600_000 };
  /** Before each statement of a run. */
  beforeStatement: (...query: Parameters<Warehouse["command"]>) => Promise<void> = async () => undefined;
  readonly #organizations: Organization[] = [];
  readonly #loadedDays = new LoadedDays();
  /** How often the loader was asked to hurry. */
  drains = 0;
  scoring: Scoring | undefined;
  #scheduler: Scheduler;

  readonly #subject: Subject;

  constructor(subject: Subject, today: number) {
    this.#subject = subject;
    this.today = today;
    this.#scheduler = this.#start();
  }

  /** As after a deletion of an organization. */
  deleteOrganization(id: number): void {
    this.#organizations.splice(0, Infinity, ...this.#organizations.filter((each) => each.id !== id));
  }

  /** As after a restart: nothing is remembered. */
  restart(): void {
    this.#scheduler = this.#start();
  }

  organization(timezone = "UTC"): number {
    const id = this.#subject.newOrganization();
    this.#organizations.push({
      id,
      name: `organization ${id}`,
      timezone,
      requestsPerSecond: 1,
      itemsPerSecondSet: null,
      keepEventsDays: null,
      eventsFromDay: null,
      createdAtMs: 0,
    });
    return id;
  }

  async insert(events: readonly EventRow[]): Promise<void> {
    await insertEvents(this.#subject, events);
    this.#loadedDays.batchLoaded({ table: "events" }, Buffer.from(events.map(eventRow).join("\n")));
  }

  work(): Promise<number> {
    return this.#scheduler.runDue();
  }

  get failing(): readonly number[] {
    return this.#scheduler.failing;
  }

  earlierScores(organization: number): EarlierScores | null {
    return this.#scheduler.earlierScores(organization);
  }

  /** Until there is nothing left to do. */
  async finish(): Promise<void> {
    for (let idle = 0; idle < 3; ) idle = (await this.work()) === 0 ? idle + 1 : 0;
  }

  #start(): Scheduler {
    const { warehouse } = this.#subject;
    const host = {
      warehouse: {
        topology: warehouse.topology,
        rows: <Row>(...query: Parameters<Warehouse["rows"]>) =>
          this.beforeStatement(...query).then(() => warehouse.rows<Row>(...query)),
        command: (...query: Parameters<Warehouse["command"]>) =>
          this.beforeStatement(...query).then(() => warehouse.command(...query)),
        stream: refuse,
        insertFrozen: refuse,
        insertInto: refuse,
        close: refuse,
      },
      drain: async () => {
        this.drains += 1;
      },
      takeEarliestLoadedDay: (organization: number) => this.#loadedDays.take(organization),
      whileNothingChanges: <Result>(work: () => Promise<Result>) => work(),
    };
    const log = pino({ level: "silent" });
    const nowMs = () => (this.today + 0.5) * msPerDay;
    const ledger = {
      organizations: {
        list: async () => this.#organizations,
        find: async (id: number) => this.#organizations.find((each) => each.id === id),
        create: refuse,
        set: refuse,
        eventsDropped: refuse,
      },
      inbox: {
        backlog: async () => ({ rows: this.waitingRows, bytes: 0, newestInboxId: 0, loadedUptoInboxId: 0 }),
        freeze: refuse,
        read: refuse,
        finish: refuse,
      },
      lastBulkLoadAtMs: async () => this.lastBulkLoadAtMs,
      rebuildsPending: async () => this.rebuildsPending,
      outages: {
        list: async () =>
          this.declaredOutages.map((days, index) => ({ ...days, id: index + 1, createdAtMs: 0 })),
        add: refuse,
        remove: refuse,
      },
      settings: {
        get: async () => ({ version: 0, settings: this.settings, changedAtMs: null, changedBy: null }),
        change: refuse,
        restore: refuse,
        history: refuse,
      },
    };
    const sources = {
      stoppedFor: async (_: unknown, day: number) =>
        this.stopped !== null && this.stopped.sinceMs < day * msPerDay ? this.stopped : null,
    };
    this.scoring = new Scoring({ host, ledger, sources, log, nowMs });
    return new Scheduler({
      scoring: this.scoring,
      host,
      ledger,
      log,
      time: { ...systemTime, nowMs },
      rests: {
        beforeTodayMs: this.restBeforeTodayMs,
        beforeLateEvents: { timesRun: this.restTimesRunBeforeLateEvents, longestMs: 3_600_000 },
        shareBeforeHistory: 0,
        forBulkLoad: this.restForBulkLoad,
        forLoaderMs: this.longestWaitForLoaderMs,
        betweenChecks: { eachMs: this.restBetweenChecksMs, longestMs: this.restBetweenChecksMs },
        afterFailureMs: this.restAfterFailureMs,
      },
    });
  }
}

function refuse(): never {
  throw new Error("scoring has no business with this");
}
