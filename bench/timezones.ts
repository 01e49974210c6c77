/**
 * The cost of many active organizations west of Greenwich: 1,000 in America/Los_Angeles with 10 events a
 * second in all, beside 1,000 in UTC. Two services get their events in the same seconds.
 *
 *   cli/with-bun bench/timezones.ts [minutes, 5] [organizations, 1,000]
 *
 * All organizations have scores of today from the start. It refuses to run over a midnight of either
 * timezone.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { msPerDay, Zone } from "../server/calendar/zone.ts";
import { scoreTables } from "../server/warehouse/schema/score-tables.ts";
import { snapshotTables } from "../server/warehouse/schema/snapshot-tables.ts";
import { Server } from "../test/server.ts";
import { createOrganization, type Opened, scoringOf, withOpened, writeUsers } from "./history/opened.ts";
import { runsIn, type Side, sideBySide } from "./load/side-by-side.ts";

const [minutes = 5, organizations = 1_000] = process.argv.slice(2).map(Number);
const eventsPerSecond = 10;
const usersOfEach = 10;
/** Fewer than a week, so that today is the only day with scores. */
const daysBefore = 5;
const aimPercent = 5;
/** The first look at each organization after a start is no part of the figures. */
const settleMs = 60_000 + 150 * organizations;

/** Creates the organizations with users and events of the days before, and scores all. @returns their
 * tokens */
function prepare(dataDir: string, timezone: string): Promise<readonly string[]> {
  return withOpened(dataDir, async (opened) => {
    const startedMs = performance.now();
    const zone = new Zone(timezone);
    const today = zone.dayOf(Date.now());
    const created = [];
    for (let n = 0; n < organizations; n += 1) {
      created.push(await createOrganization(opened, `organization ${n}`, timezone));
    }
    const ids = created.map(({ organization }) => organization.id);
    for (const id of ids) {
      await writeUsers(
        opened,
        id,
        Array.from({ length: usersOfEach }, (_, n) => n + 1),
      );
    }
    // At noon of UTC both timezones have the same day.
    await opened.analysis.warehouse.command(
      `INSERT INTO events (organization, user, account, event, time, day, received_at, id, id_is_message_id, message_id, properties)
       SELECT organization, user, 0, 'opened', toDateTime64(date, 3, 'UTC') + INTERVAL 12 HOUR AS at, date, at,
         generateUUIDv4(user), false, '', '{}'
       FROM (
         SELECT arrayJoin({ids:Array(UInt32)}) AS organization, arrayJoin(range(1, ${usersOfEach + 1})) AS user,
           addDays(toDate32('1970-01-01'), {today:Int32} - arrayJoin(range(1, ${daysBefore + 1}))) AS date)`,
      { ids, today },
    );
    const [first] = created;
    if (first === undefined) throw new Error("there has to be an organization");
    const scoring = scoringOf(opened, Date.now);
    await scoring.scoreAsOf(
      await scoring.scoredOrganization(first.organization),
      { day: today },
      () => undefined,
    );
    await copyScores(opened, first.organization.id, ids.slice(1));
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
    console.log(`${organizations} organizations in ${timezone} made and scored in ${seconds} s`);
    return created.map(({ token }) => token);
  });
}

/** All organizations have the same data, so the scores of one are those of all. */
async function copyScores({ analysis }: Opened, from: number, to: readonly number[]): Promise<void> {
  for (const table of [...scoreTables, ...snapshotTables]) {
    await analysis.warehouse.command(
      `INSERT INTO ${table.name} SELECT * REPLACE (arrayJoin({to:Array(UInt32)}) AS organization)
       FROM (SELECT * FROM ${table.name} WHERE organization = {from:UInt32})`,
      { from, to },
    );
  }
}

function sideOf(timezone: string, server: Server, tokens: readonly string[]): Side {
  let sent = 0;
  const send = async (seconds: number) => {
    const [startedMs, answers] = [performance.now(), [] as Promise<Response>[]];
    for (let n = 0; n < seconds * eventsPerSecond; n += 1) {
      await Bun.sleep(Math.max(0, startedMs + (1_000 * n) / eventsPerSecond - performance.now()));
      sent += 1;
      const body = { userId: `user-${1 + (sent % usersOfEach)}`, event: "opened" };
      answers.push(server.post("/track", tokens[sent % tokens.length], body));
    }
    const failed = (await Promise.all(answers)).find(({ status }) => status !== 201);
    if (failed !== undefined) throw new Error(`${failed.status}: ${await failed.text()}`);
  };
  return { name: timezone, server, send };
}

const folder = mkdtempSync(join(tmpdir(), "rekindle-timezones-"));
const timezones = ["UTC", "America/Los_Angeles"] as const;

async function started(timezone: (typeof timezones)[number]): Promise<Side> {
  const dataDir = join(folder, timezone.replace("/", "-"));
  mkdirSync(dataDir);
  const tokens = await prepare(dataDir, timezone);
  return sideOf(timezone, await Server.start({ dataDir }), tokens);
}

function refuseMidnight(): void {
  const needsMs = minutes * 60_000 + 2 * settleMs;
  for (const zone of timezones.map((timezone) => new Zone(timezone))) {
    if (zone.dayOf(Date.now() + needsMs) !== zone.dayOf(Date.now() - msPerDay / 24)) {
      throw new Error(`a day of ${zone.name} begins while it would measure, or has just begun`);
    }
  }
}

const sides: Side[] = [];
try {
  for (const timezone of timezones) sides.push(await started(timezone));
  const [utc, west] = sides;
  if (utc === undefined || west === undefined) throw new Error("both sides are needed");
  refuseMidnight();
  for (const { server } of sides) await server.ready();
  await Bun.sleep(settleMs);
  await sideBySide([utc, west], { rounds: minutes, seconds: 60, aimPercent });
  for (const { name, server } of sides) console.log(`${name}: ${runsIn(server.output())}`);
} finally {
  for (const { server } of sides) await server.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
}
process.exit();
