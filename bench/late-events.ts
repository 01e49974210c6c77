/**
 * The cost of late events: 10 events a second that are spread over 60 days, beside 10 a second of today. Two
 * services on copies of one data folder get them in the same seconds. Nothing may be trained meanwhile.
 *
 *   cli/with-bun bench/late-events.ts [minutes, 10] [users, 100,000] [events, 20,000,000]
 *
 * All earlier days are scored first: 15 minutes with the default sizes. It refuses to run over midnight UTC.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { msPerDay } from "../server/calendar/zone.ts";
import { firstDayOf } from "../server/scoring/run/population.ts";
import { historyDays } from "../server/scoring/scores/history-days.ts";
import { eventCounts } from "../server/warehouse/upkeep/event-counts.ts";
import { Random } from "../simulation/random.ts";
import { needs, writes } from "../test/ledger/writes.ts";
import { Server } from "../test/server.ts";
import { generateHistory } from "./history/generated-in-engine.ts";
import { createOrganization, scoringOf, withOpened, writeUsers } from "./history/opened.ts";
import { runLoad } from "./load/load.ts";
import { runsIn, type Side, sideBySide } from "./load/side-by-side.ts";

const [minutes = 10, users = 100_000, events = 20_000_000] = process.argv.slice(2).map(Number);
const eventsPerSecond = 10;
const lateDays = 60;
const senders = Math.min(1_000, users);
const historyWeeks = 26;
const aimPercent = 2;
/** Merges and a first look at all organizations are no part of the figures. */
const settleMs = 60_000;

/** Fills a data folder and scores all days that the schedule would. @returns the token */
function prepare(dataDir: string): Promise<string> {
  return withOpened(dataDir, async (opened) => {
    const { analysis, ledger } = opened;
    const { warehouse } = analysis;
    const { organization, token } = await createOrganization(opened, "bench");
    const today = Math.floor(Date.now() / msPerDay);
    const size = { organization: organization.id, users, events, days: 7 * historyWeeks, toDay: today - 1 };
    const startedMs = performance.now();
    const made = await generateHistory(warehouse, size);
    const numbers = Array.from({ length: senders }, (_, n) => 1 + n * Math.floor(users / senders));
    await writeUsers(opened, organization.id, numbers);
    const dayCounts = await eventCounts(warehouse, organization.id);
    await ledger.transact(needs({}), () => writes(Date.now(), { dayCounts }));
    const scoring = scoringOf(opened, Date.now);
    const scored = await scoring.scoredOrganization(organization);
    const firstDay = (await firstDayOf(warehouse, organization.id, today)) ?? today;
    const days = [today, ...historyDays(today, firstDay)];
    for (const day of days) await scoring.scoreAsOf(scored, { day }, () => undefined);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    console.log(`${made} events of ${users} users and scores of ${days.length} days, made in ${seconds} s`);
    return token;
  });
}

/** The versions of all models' records: a training raises them. */
function modelsOf(dataDir: string): Promise<string> {
  return withOpened(dataDir, async ({ analysis }) => {
    const rows = await analysis.warehouse.rows(
      "SELECT kind, day, version FROM score_records FINAL WHERE what = 'model' ORDER BY kind, day",
    );
    return JSON.stringify(rows);
  });
}

const random = new Random(20_261_101);
const times = {
  today: () => Date.now(),
  late: () => Date.now() - Math.floor((1 + random.next() * (lateDays - 1)) * msPerDay),
};

function sideOf(name: keyof typeof times, server: Server, token: string): Side {
  const send = async (seconds: number) => {
    const { statuses } = await runLoad({
      port: Number(new URL(server.url).port),
      path: "/track",
      connections: 2,
      seconds,
      headers: { Authorization: `Basic ${token}` },
      requestsPerSecond: eventsPerSecond,
      request: (n) =>
        JSON.stringify({
          userId: `user-${1 + (n % senders) * Math.floor(users / senders)}`,
          event: `event_${n % 60}`,
          timestamp: new Date(times[name]()).toISOString(),
        }),
    });
    if (Object.keys(statuses).some((status) => status !== "201")) throw new Error(JSON.stringify(statuses));
  };
  return { name: `${eventsPerSecond} events a second, ${name}`, server, send };
}

const folder = mkdtempSync(join(tmpdir(), "rekindle-late-"));
const [todayDir, lateDir] = [join(folder, "today"), join(folder, "late")] as const;
mkdirSync(todayDir);
try {
  const token = await prepare(todayDir);
  const modelsBefore = await modelsOf(todayDir);
  cpSync(todayDir, lateDir, { recursive: true });
  const leftMs = msPerDay - (Date.now() % msPerDay);
  if (leftMs < minutes * 60_000 + 2 * settleMs) throw new Error("a new day would begin while it measures");
  const [today, late] = [await Server.start({ dataDir: todayDir }), await Server.start({ dataDir: lateDir })];
  try {
    await Promise.all([today.ready(), late.ready()]);
    await Bun.sleep(settleMs);
    const sides = [sideOf("today", today, token), sideOf("late", late, token)] as const;
    await sideBySide([...sides], { rounds: minutes, seconds: 60, aimPercent });
    for (const { name, server } of sides) console.log(`${name}: ${runsIn(server.output())}`);
  } finally {
    await Promise.all([today.kill("SIGTERM"), late.kill("SIGTERM")]);
  }
  const isTrained = (await modelsOf(lateDir)) !== modelsBefore;
  console.log(isTrained ? "MODELS WERE TRAINED" : "no model was trained");
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
process.exit();
