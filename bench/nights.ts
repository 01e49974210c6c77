/**
 * The cost of a night in one organization: wall time, processor time and peak memory, users and accounts
 * apart. Three nights without training are measured, a first training whose Mondays are not stored yet, and a
 * training with all of them.
 *
 *   cli/with-bun bench/nights.ts [users, 100,000] [events, 20,000,000] [weeks, 26] [events for the loader, 2,000,000]
 *
 * 8 users have an account. The engine makes the rows. A smaller history of the same kind is loaded through
 * the loader first, and its time is extrapolated. Nights run in a process of their own, with ledger, loader
 * and upkeep as in the service. All takes about 7 minutes with the default sizes, and an hour with 1,000,000
 * users and 100,000,000 events.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import { formatDay } from "../server/calendar/days.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { snapshotFor } from "../server/scoring/queries/stored-snapshots.ts";
import { populationOf, withOutages } from "../server/scoring/run/population.ts";
import type { Scoring } from "../server/scoring/run/scoring.ts";
import { generateHistory, usersPerAccount } from "./history/generated-in-engine.ts";
import { loadHistory } from "./history/history.ts";
import { createOrganization, type Opened, scoringOf, withOpened } from "./history/opened.ts";
import { peakMemoryBytes, resetPeakMemory } from "./history/peak-memory.ts";
import { median } from "./load/alternate.ts";

type Organization = Parameters<Scoring["scoredOrganization"]>[0];

/** A Monday. */
const toDay = Date.UTC(2026, 5, 1) / msPerDay;
const nightsWithoutTraining = 3;

interface Spent {
  wallMs: number;
  cpuMs: number;
}

interface Night extends Spent {
  readonly peakBytes: number;
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};
const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
const inWords = ({ wallMs, cpuMs }: Spent) => `${seconds(wallMs)}, processor ${seconds(cpuMs)}`;
const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
const sum = (parts: readonly Spent[]): Spent => ({
  wallMs: parts.reduce((total, { wallMs }) => total + wallMs, 0),
  cpuMs: parts.reduce((total, { cpuMs }) => total + cpuMs, 0),
});

/** The time of each step between two reports. */
class Steps {
  readonly byName = new Map<string, Spent>();
  #name = "noticing changes";
  #wallMs = performance.now();
  #cpuMs = cpuMs();

  begin(name: string): void {
    const spent = this.byName.get(this.#name) ?? { wallMs: 0, cpuMs: 0 };
    this.byName.set(this.#name, {
      wallMs: spent.wallMs + performance.now() - this.#wallMs,
      cpuMs: spent.cpuMs + cpuMs() - this.#cpuMs,
    });
    [this.#name, this.#wallMs, this.#cpuMs] = [name, performance.now(), cpuMs()];
  }

  of(prefix: string): Spent {
    return sum([...this.byName].flatMap(([name, spent]) => (name.startsWith(prefix) ? [spent] : [])));
  }
}

class Nights {
  readonly #opened: Opened;
  readonly #scoring: Scoring;
  readonly #organization: Organization;
  #today = 0;

  constructor(opened: Opened, organization: Organization) {
    this.#opened = opened;
    this.#organization = organization;
    this.#scoring = scoringOf(opened, () => this.#today * msPerDay + msPerDay / 4);
  }

  /** Scores as of this day, and prints what it cost. */
  async night(name: string, day: number): Promise<Night> {
    this.#today = day;
    resetPeakMemory();
    const organization = await this.#scoring.scoredOrganization(this.#organization);
    const steps = new Steps();
    const { kinds } = await this.#scoring.scoreAsOf(organization, { day }, ({ step }) => steps.begin(step));
    steps.begin("");
    const peakBytes = peakMemoryBytes();
    const whole = steps.of("");
    console.log(`${name}, ${formatDay(day)}: ${inWords(whole)}, peak memory ${megabytes(peakBytes)}`);
    for (const { kind, entities, rung } of kinds) {
      console.log(`  ${entities} ${kind}s, model ${rung}: ${inWords(steps.of(`${kind}s: `))}`);
    }
    for (const [step, spent] of steps.byName) console.log(`    ${step.padEnd(38)} ${inWords(spent)}`);
    return { ...whole, peakBytes };
  }

  /** Stores the snapshots of all Mondays before a day, as the nights of a running service have done. */
  async storeMondays(before: number, weeks: number): Promise<void> {
    const organization = await this.#scoring.scoredOrganization(this.#organization);
    const { warehouse } = this.#opened.analysis;
    const [startedMs, startedCpuMs] = [performance.now(), cpuMs()];
    resetPeakMemory();
    let days = 0;
    for (let day = before - 7; day > before - 7 * weeks; day -= 7) {
      const asOfThen = await withOutages(warehouse, organization, day);
      for (const kind of ["user", "account"] as const) {
        await snapshotFor(warehouse, populationOf(asOfThen, kind), day);
      }
      days += 1;
    }
    const spent = { wallMs: performance.now() - startedMs, cpuMs: cpuMs() - startedCpuMs };
    console.log(
      `snapshots of ${days} Mondays, of which the first training has stored some: ${inWords(spent)}, peak memory ${megabytes(peakMemoryBytes())}`,
    );
  }
}

/** In a process of its own, whose memory is that of nights alone. */
async function measureNights(dataDir: string, weeks: number): Promise<void> {
  await withOpened(dataDir, async (opened) => {
    const [organization] = await opened.ledger.organizations.list();
    if (organization === undefined) throw new Error("there is no organization");
    const nights = new Nights(opened, organization);
    console.log(`before the first night: peak memory ${megabytes(peakMemoryBytes())}`);
    const monday = toDay - 7;
    await nights.night("first training, without stored Mondays", monday);
    const without: Night[] = [];
    for (let night = 1; night <= nightsWithoutTraining; night += 1) {
      without.push(await nights.night("without training", monday + night));
    }
    await nights.storeMondays(toDay, weeks);
    const training = await nights.night("with training", toDay);
    const middle = (of: (night: Night) => number) => median(without.map(of));
    const plain = { wallMs: middle(({ wallMs }) => wallMs), cpuMs: middle((night) => night.cpuMs) };
    const peakBytes = Math.max(...without.map((night) => night.peakBytes));
    console.log(
      `\nmedian night without training ${inWords(plain)}, largest peak ${megabytes(peakBytes)}\n` +
        `night with training ${inWords(training)}, peak ${megabytes(training.peakBytes)}`,
    );
  });
}

/** How long the loader would take. Its rows are made in the same thread, so it is an upper bound, but for the
 * larger merges. */
async function measureLoader(users: number, events: number, loadedEvents: number, days: number) {
  if (loadedEvents === 0) return;
  const part = Math.min(1, loadedEvents / events);
  const loaded = await withTemporaryWarehouse((warehouse) =>
    loadHistory(warehouse, {
      organization: 1,
      days,
      toDay,
      users: Math.max(1, Math.round(users * part)),
      events: events * part,
    }),
  );
  const perSecond = loaded.events / loaded.seconds;
  console.log(
    `loader: ${loaded.events} events of ${loaded.users} users in ${loaded.seconds.toFixed(0)} s, ${Math.round(perSecond)} a second; ` +
      `${events} would take ${seconds((1_000 * events) / perSecond)}`,
  );
}

async function measure(users: number, events: number, weeks: number, loadedEvents: number): Promise<void> {
  await measureLoader(users, events, loadedEvents, 7 * weeks);
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-nights-"));
  try {
    const startedMs = performance.now();
    const made = await withOpened(dataDir, async (opened) => {
      const { organization } = await createOrganization(opened, "bench");
      const size = { organization: organization.id, users, events, days: 7 * weeks, toDay };
      return generateHistory(opened.analysis.warehouse, size);
    });
    const accounts = Math.ceil(users / usersPerAccount);
    console.log(
      `${made} events of ${users} users in ${accounts} accounts in ${weeks} weeks, made in ${seconds(performance.now() - startedMs)}`,
    );
    const child = Bun.spawn([process.execPath, import.meta.path, "on", dataDir, String(weeks)], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    if ((await child.exited) !== 0) process.exitCode = 1;
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

if (process.argv[2] === "on") {
  await measureNights(process.argv[3] ?? "", Number(process.argv[4]));
} else {
  const [users = 100_000, events = 20_000_000, weeks = 26, loaded = 2_000_000] = process.argv
    .slice(2)
    .map(Number);
  await measure(users, events, weeks, loaded);
}
process.exit();
