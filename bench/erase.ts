/**
 * The time until 1,000 users who are erased at once are in no store, in one organization of 100,000 users,
 * and how long an event waits for the loader meanwhile. Ledger, loader and upkeep are the service's own, in
 * one process.
 *
 *   cli/with-bun bench/erase.ts [millions of events, 2 by default] [users, 1000 by default]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { msPerDay } from "../server/calendar/zone.ts";
import { features } from "../server/features/features.ts";
import { settingUp } from "../server/ledger/audit.ts";
import type { Ledger } from "../server/ledger/ledger.ts";
import { currentSchema, eventRow } from "../server/ledger/rules/warehouse-rows.ts";
import { ledgerFile } from "../server/ledger/sqlite/ledger-file.ts";
import { openSqliteLedger } from "../server/ledger/sqlite/open.ts";
import { createLogger } from "../server/process/log.ts";
import { systemTime } from "../server/process/time.ts";
import { type Analysis, openAnalysis } from "../server/warehouse/analysis.ts";
import { checkOrganization, describeDifference } from "../server/warehouse/upkeep/check.ts";
import { eventCounts } from "../server/warehouse/upkeep/event-counts.ts";
import { append, needs, user, writes } from "../test/ledger/writes.ts";
import { loadHistory } from "./history/history.ts";

const [millions = 2, erasedUsers = 1_000] = process.argv.slice(2).map(Number);
const users = 100_000;
const days = 182;
const toDay = Date.UTC(2026, 5, 1) / msPerDay;
const eventsOfStep = 10;
const stepMs = 100;

/** Writes the users who will be erased, and the counts of all events, as if the ledger had acknowledged
 * them. */
async function known(ledger: Ledger, analysis: Analysis, organization: number): Promise<string[]> {
  const numbers = Array.from(
    { length: erasedUsers },
    (_, index) => 1 + index * Math.floor(users / erasedUsers),
  );
  const all = numbers.map((number) => user(organization, `user-${number}`, { number }));
  await ledger.transact(needs({ users: all }), () => writes(Date.now(), { users: all }));
  const dayCounts = await eventCounts(analysis.warehouse, organization);
  await ledger.transact(needs({}), () => writes(Date.now(), { dayCounts }));
  return all.map(({ userId }) => userId);
}

/** Sends events of a user who stays, and measures how long each waits for the loader. */
class Arrivals {
  readonly #ledger: Ledger;
  readonly #analysis: Analysis;
  readonly #organization: number;
  readonly #before: number;
  readonly #waiting: { readonly rows: number; readonly atMs: number }[] = [];
  readonly #delaysMs: number[] = [];
  #sent = 0;
  #isOver = false;

  constructor(ledger: Ledger, analysis: Analysis, organization: number) {
    this.#ledger = ledger;
    this.#analysis = analysis;
    this.#organization = organization;
    this.#before = analysis.status().loader.rowsLoaded;
  }

  async run(): Promise<void> {
    while (!this.#isOver || this.#waiting.length > 0) {
      if (!this.#isOver) await this.#send();
      const loaded = this.#analysis.status().loader.rowsLoaded - this.#before;
      while (this.#waiting[0] !== undefined && this.#waiting[0].rows <= loaded) {
        this.#delaysMs.push(performance.now() - (this.#waiting.shift()?.atMs ?? 0));
      }
      await Bun.sleep(stepMs);
    }
  }

  /** @returns how long events waited, in words */
  async stop(running: Promise<void>): Promise<string> {
    this.#isOver = true;
    await running;
    const sorted = this.#delaysMs.toSorted((a, b) => a - b);
    const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);
    return `${this.#sent} events came meanwhile and waited ${at(0.5)} ms (p99 ${at(0.99)}, longest ${at(1)})`;
  }

  async #send(): Promise<void> {
    const lines = Array.from({ length: eventsOfStep }, () => this.#event());
    const body = lines.map((line) => `${line}\n`).join("");
    await append(
      this.#ledger,
      { table: "events", year: 2026, schema: currentSchema.events, rows: lines.length, body },
      Date.now(),
    );
    this.#waiting.push({ rows: this.#sent, atMs: performance.now() });
  }

  #event(): string {
    this.#sent += 1;
    const timeMs = toDay * msPerDay + this.#sent;
    return eventRow({
      organization: this.#organization,
      user: 2,
      account: 1,
      event: "event_1",
      timeMs,
      day: toDay,
      receivedAtMs: timeMs,
      id: crypto.randomUUID().replaceAll("-", ""),
      messageId: null,
      properties: "{}",
    });
  }
}

async function measure(ledger: Ledger, analysis: Analysis): Promise<void> {
  const { id } = await ledger.organizations.create(
    { name: "bench", timezone: "UTC", nowMs: Date.now() },
    settingUp,
  );
  const size = { events: millions * 1e6, users, days, toDay };
  const loaded = await loadHistory(analysis.warehouse, { organization: id, ...size });
  console.log(`${loaded.events} events of ${loaded.users} users, loaded in ${loaded.seconds.toFixed(0)} s`);
  const userIds = await known(ledger, analysis, id);
  const arrivals = new Arrivals(ledger, analysis, id);
  const arriving = arrivals.run();
  const [startedMs, startedCpu] = [performance.now(), process.cpuUsage()];
  const receipts = await Promise.all(userIds.map((userId) => analysis.erase(id, userId, {})));
  const seconds = (performance.now() - startedMs) / 1_000;
  const { user: inUser, system } = process.cpuUsage(startedCpu);
  const events = receipts.reduce((sum, receipt) => sum + (receipt?.events ?? 0), 0);
  console.log(
    `${receipts.length} users with ${events} events erased in ${seconds.toFixed(1)} s, with ${((inUser + system) / 1e6).toFixed(1)} s of processor time`,
  );
  console.log(await arrivals.stop(arriving));
  await analysis.drain();
  const populations = await ledger.populations(id);
  const dayCounts = await eventCounts(analysis.warehouse, id);
  const differences = await checkOrganization(analysis.warehouse, id, { dayCounts, populations });
  // The ledger knows only the users who were erased.
  const found = differences.filter(({ kind }) => !["users", "accounts", "user_versions"].includes(kind));
  console.log(found.length === 0 ? "events and rollups agree" : found.map(describeDifference).join("\n"));
}

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-erase-"));
const ledger = await openSqliteLedger({ features, file: ledgerFile(dataDir) });
try {
  const analysis = await openAnalysis(dataDir, ledger, createLogger("bench", "warn"), systemTime);
  await measure(ledger, analysis);
  await analysis.close();
} finally {
  await ledger.close();
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
process.exit(0);
