/**
 * How long other work waits while an organization is scored, with training and back-tests, week after week of
 * its past. Meanwhile another organization's users are erased, it is scored and checked, figures are read,
 * and events are sent and looked up.
 *
 *   cli/with-bun bench/training.ts [users, 300 by default] [seconds, 90]
 *
 * The users are those of `rekindle demo` over a year, sent through the API. A run that is unfinished at the
 * end is not waited for.
 */

import { remoteAnalysis } from "../server/between/remote/remote-analysis.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { commandLine } from "../server/ledger/audit.ts";
import { socketPeer } from "../server/process/control.ts";
import { socketPath } from "../server/process/sockets.ts";
import { counts } from "../test/analytics/counts.ts";
import { Server } from "../test/server.ts";
import { Histogram } from "./load/histogram.ts";
import { VisibilityWatch } from "./load/visibility.ts";

const users = process.argv[2] ?? "300";
const measuredMs = 1_000 * Number(process.argv[3] ?? 90);
/** Other work that is unfinished at the end is waited for at most this long. */
const leftMs = 30_000;
/** The scheduler trains for the weeks since on its own. */
const newestWeekAgo = 8;
const oldestWeekAgo = 20;

/** A line for each thing that is done again and again, of as often as it ended. */
const report: (() => string)[] = [];
let working = true;

/** Does something again and again until the time is over, and notes how long it takes. */
async function again(
  name: string,
  work: (times: number) => Promise<unknown>,
  restMs: number,
  most = Number.POSITIVE_INFINITY,
): Promise<void> {
  const took = new Histogram();
  const failures: unknown[] = [];
  report.push(() => {
    const [median, p99, most] = [took.percentileMs(0.5), took.percentileMs(0.99), took.maxMs].map(Math.round);
    const failed = failures.length === 0 ? "" : `, ${failures.length} FAILED: ${failures[0]}`;
    return `${name.padEnd(40)} ${took.count} times, median ${median}, p99 ${p99}, longest ${most} ms${failed}`;
  });
  for (let times = 0; working && times < most; times++) {
    const startedMs = performance.now();
    await work(times).catch((error: unknown) => failures.push(error));
    took.record(1_000 * (performance.now() - startedMs));
    await Bun.sleep(restMs);
  }
}

async function idOf(server: Server, name: string): Promise<number> {
  const list = await server.command("organization", "list");
  return Number(new RegExp(`^(\\d+) +${name} `, "m").exec(list)?.[1]);
}

async function answerOf(response: Response): Promise<string> {
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.text();
}

async function measure(server: Server): Promise<void> {
  const [token, key] = [
    await server.organization("Small"),
    (await server.command("key", "create", "--organization", "Demo")).trim(),
  ];
  const [large, small] = [await idOf(server, "Demo"), await idOf(server, "Small")];
  const { analysis, scoring } = remoteAnalysis(socketPeer(socketPath(server.dataDir, "analysis")));
  const get = async (path: string) =>
    answerOf(await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } }));
  const send = async (path: string, body: object) => answerOf(await server.post(path, token, body));
  const person = (userId: string) => send("/identify", { userId, email: `${userId}@example.com` });
  let visibleEvents = 0;
  const watch = new VisibilityWatch(async () => {
    // After the server has stopped, as many as before.
    const found = await counts(server.warehouse(), small).catch(() => undefined);
    visibleEvents = found?.events ?? visibleEvents;
    return visibleEvents;
  });
  await person("sender");
  await watch.start();
  const today = Math.floor(Date.now() / msPerDay);
  const weeks = oldestWeekAgo - newestWeekAgo;
  const score = async (organization: number, day?: number) => {
    await scoring.score({ organization, ...(day !== undefined && { day }) }, () => undefined);
  };
  const train = (week: number) => score(large, today - 7 * (newestWeekAgo + week));
  const erase = async (times: number) => {
    await person(`user-${times}`);
    await analysis.erase(small, `user-${times}`, { by: commandLine });
  };
  const track = async () => {
    await send("/track", { userId: "sender", event: "opened" });
    watch.acknowledged();
  };
  // Its end is not awaited.
  void again("a run that trains", train, 0, weeks);
  const others = Promise.all([
    again("an erasure in another organization", erase, 2_000),
    again("a score of another organization", () => score(small), 2_000),
    again("a check of another organization", () => analysis.check(small), 5_000),
    again("GET /api/users", () => get("/api/users?limit=50"), 100),
    again("GET /api/retention", () => get("/api/retention"), 100),
    again("POST /track", track, 50),
  ]);
  await Bun.sleep(measuredMs);
  working = false;
  const visible = await Promise.race([others.then(() => watch.stop()), Bun.sleep(leftMs)]);
  for (const line of report) console.log(line());
  if (visible === undefined) console.log(`${leftMs / 1_000} s later something else still waited`);
  else
    console.log(
      `acknowledged until visible: median ${visible.p50Ms.toFixed(0)}, p99 ${visible.p99Ms.toFixed(0)} ms`,
    );
  for (const [line] of server.output().matchAll(/^.*"msg":"scored".*$/gm)) console.log(line);
}

const server = await Server.start();
try {
  await server.ready();
  console.log((await server.command("demo", "--no-team", "--users", users, "--weeks", "52")).trim());
  await measure(server);
} finally {
  await server.stop();
}
process.exit(0);
