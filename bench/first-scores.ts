/**
 * How long after an import the first scores are there, the first model, and the Mondays of 52 weeks: the
 * service's own schedule after `rekindle import` of users and events in 54 weeks.
 *
 *   cli/with-bun bench/first-scores.ts [events, 20,000,000] [users, 100,000] [longest minutes to wait, 60]
 *
 * Times count from the end of the import, which takes some 15 minutes for 20 million events.
 */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { formatDay } from "../server/calendar/days.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { warehouseFolder } from "../server/process/data-folder.ts";
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";
import { ImportBench } from "../test/import/support.ts";
import { accountOf, historyItems } from "./history/history.ts";

const [events = 20_000_000, users = 100_000, longestMinutes = 60] = process.argv.slice(2).map(Number);
const historyWeeks = 54;
const mondays = 52;
const firstPollMs = 500;
const pollMs = 5_000;
/** The schedule looks every 10 s, and rests for a minute between two runs of today. */
const quietMs = 90_000;
const organization = "bench";
const aims = { firstScoresSeconds: 60, mondaysSeconds: 600 };
const rowsAtOnce = 10_000;

const today = Math.floor(Date.now() / msPerDay);
const plans = ["free", "starter", "pro", "enterprise"];

/** Writes a file of lines. */
async function write(path: string, lines: Iterable<string>): Promise<void> {
  const stream = createWriteStream(path);
  let chunk: string[] = [];
  const flush = async () => {
    if (!stream.write(`${chunk.join("\n")}\n`)) await once(stream, "drain");
    chunk = [];
  };
  for (const line of lines) {
    chunk.push(line);
    if (chunk.length === rowsAtOnce) await flush();
  }
  if (chunk.length > 0) await flush();
  stream.end();
  await once(stream, "finish");
}

function* userLines(people: ReturnType<typeof historyItems>["users"]): Generator<string> {
  yield "userId,email,timestamp,plan,accountId,accountName";
  for (const { number, fromDay } of people) {
    const [account, at] = [accountOf(number), new Date(fromDay * msPerDay).toISOString()];
    const plan = plans[(number * 7_919) % plans.length];
    yield `user-${number},user-${number}@example.com,${at},${plan},account-${account},Account ${account}`;
  }
}

function* eventLines(items: ReturnType<typeof historyItems>["events"]): Generator<string> {
  yield "userId,event,timestamp,page,n";
  let n = 0;
  for (const { number, name, timeMs } of items) {
    n += 1;
    yield `user-${number},${name},${new Date(timeMs).toISOString()},home,${n % 1_000}`;
  }
}

interface ScoredRun {
  readonly day: string;
  readonly atMs: number;
  readonly ms: number;
}

/** The runs of the schedule, from the server's log. */
function runsOf(output: string): ScoredRun[] {
  return [...output.matchAll(/^\{.*"msg":"scored".*$/gm)].map(([line]) => {
    const { day, time, ms } = JSON.parse(line) as { day: string; time: number; ms: number };
    return { day, ms, atMs: time };
  });
}

async function ask<Answer>(key: string, path: string): Promise<Answer> {
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${bench.server.url}${path}`, { headers });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as Answer;
}

/** Waits for the scores of all days that are imported. They come before the first training. */
async function untilScored(key: string): Promise<void> {
  for (const kind of ["user", "account"]) {
    const isScored = async () =>
      (await ask<{ day: string | null }>(key, `/api/model?kind=${kind}`)).day === formatDay(today);
    while (!(await isScored())) await Bun.sleep(firstPollMs);
  }
}

async function hasDaysToScore(key: string): Promise<boolean> {
  const { freshness } = await ask<{ freshness: { earlierScores: object | null } }>(key, "/api/users?limit=1");
  return freshness.earlierScores !== null;
}

/** Waits until the schedule has nothing left to do. @returns the runs since the import */
async function untilQuiet(key: string, importedAtMs: number): Promise<ScoredRun[]> {
  const untilMs = Date.now() + 60_000 * longestMinutes;
  let busyAtMs = Date.now();
  while (Date.now() < untilMs) {
    const runs = runsOf(bench.server.output()).filter(({ atMs }) => atMs > importedAtMs);
    busyAtMs = Math.max(busyAtMs, ...runs.map(({ atMs }) => atMs));
    const isTodayScored = runs.some(({ day }) => day === formatDay(today));
    if ((await hasDaysToScore(key)) || !isTodayScored) busyAtMs = Date.now();
    if (Date.now() - busyAtMs > quietMs) return runs;
    await Bun.sleep(pollMs);
  }
  console.log(`after ${longestMinutes} minutes days are still being scored`);
  return runsOf(bench.server.output()).filter(({ atMs }) => atMs > importedAtMs);
}

interface SnapshotRecord {
  readonly kind: string;
  /** When its writing began. */
  readonly atMs: number;
}

/** The Mondays of 52 weeks whose snapshots are valid. The server has stopped. */
async function storedMondays(): Promise<SnapshotRecord[]> {
  const warehouse = await openChdbWarehouse({ folder: warehouseFolder(bench.dataDir) });
  try {
    return await warehouse.rows<SnapshotRecord>(
      `SELECT kind, version AS atMs FROM score_records FINAL
       WHERE what = 'snapshot' AND NOT stale AND toDayOfWeek(day) = 1
         AND day > addDays(toDate32('1970-01-01'), {fromDay:Int32})`,
      { fromDay: today - 7 * mondays },
    );
  } finally {
    await warehouse.close();
  }
}

interface Measured {
  readonly runs: readonly ScoredRun[];
  readonly stored: readonly SnapshotRecord[];
  readonly importedAtMs: number;
  readonly scoredAtMs: number;
}

function report({ runs, stored, importedAtMs, scoredAtMs }: Measured): void {
  const after = (atMs: number) => `${((atMs - importedAtMs) / 1_000).toFixed(0)} s`;
  const verdict = (atMs: number, seconds: number) =>
    `aim ${seconds} s: ${atMs - importedAtMs <= 1_000 * seconds ? "met" : "MISSED"}`;
  console.log(
    `first scores ${after(scoredAtMs)} after the import; ${verdict(scoredAtMs, aims.firstScoresSeconds)}`,
  );
  const first = runs.find(({ day }) => day === formatDay(today));
  console.log(
    first === undefined
      ? "today has NO model"
      : `first model ${after(first.atMs)} after the import, in a run of ${(first.ms / 1_000).toFixed(1)} s; ${verdict(first.atMs, aims.mondaysSeconds)}`,
  );
  for (const kind of ["user", "account"]) {
    const of = stored.filter((record) => record.kind === kind);
    const lastMs = Math.max(...of.map(({ atMs }) => atMs));
    console.log(
      `${kind}s: ${of.length} of ${mondays} Mondays are stored, the last ${after(lastMs)} after the import; ` +
        (of.length < mondays ? "NOT ALL" : verdict(lastMs, aims.mondaysSeconds)),
    );
  }
  const lastMs = Math.max(...runs.map(({ atMs }) => atMs));
  const busySeconds = runs.reduce((sum, { ms }) => sum + ms, 0) / 1_000;
  const days = new Set(runs.map(({ day }) => day)).size;
  console.log(
    `the schedule scored ${days} days in ${runs.length} runs of ${busySeconds.toFixed(0)} s together, the last ${after(lastMs)} after the import`,
  );
}

async function imported(name: string): Promise<void> {
  const startedMs = performance.now();
  const { exitCode, stderr } = await bench.import(bench.path(name), organization);
  if (exitCode !== 0) throw new Error(stderr);
  console.log(`${name}: imported in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
}

const bench = new ImportBench();
try {
  const size = { organization: 1, events, users, days: 7 * historyWeeks, toDay: today - 1 };
  const items = historyItems(size);
  await write(bench.path("users.csv"), userLines(items.users));
  await write(bench.path("events.csv"), eventLines(items.events));
  await bench.startServer();
  await bench.server.ready();
  await bench.server.organization(organization);
  const key = (await bench.server.command("key", "create", "--organization", organization)).trim();
  await imported("users.csv");
  await imported("events.csv");
  const importedAtMs = Date.now();
  await untilScored(key);
  const scoredAtMs = Date.now();
  const runs = await untilQuiet(key, importedAtMs);
  const cpuSeconds = bench.server.cpuSeconds();
  await bench.server.kill("SIGTERM");
  report({ runs, stored: await storedMondays(), importedAtMs, scoredAtMs });
  console.log(`both processes have taken ${cpuSeconds.toFixed(0)} s of processor time`);
} finally {
  await bench.end();
}
process.exit();
