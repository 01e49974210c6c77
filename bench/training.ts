/**
 * How long everything else waits while an organization of 100,000 users (or as many as are given) over 400 days is scored for the first time of
 * a week: its models are trained and back-tested. Another organization's users are erased, its scores are worked out
 * and it is checked, one after the other, again and again; figures are asked for; and events are sent and looked for.
 *
 *   cli/with-bun bench/training.ts [millions of events, 2 by default] [folder to keep the history in] [users, 100000]
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { msPerDay } from "../server/calendar/zone.ts";
import { fetchSocket } from "../server/process/control.ts";
import { socketPath } from "../server/process/sockets.ts";
import { warehouseFolder } from "../server/warehouse/analysis.ts";
import { openChdbWarehouse } from "../server/warehouse/chdb.ts";
import { Server } from "../test/server.ts";
import { Histogram } from "./histogram.ts";
import { loadHistory } from "./history.ts";
import { VisibilityWatch } from "./visibility.ts";

const millions = Number(process.argv[2] ?? 2);
const kept = process.argv[3] ?? mkdtempSync(join(tmpdir(), "rekindle-training-"));
const users = Number(process.argv[4] ?? 100_000);
/** Longer is not waited for the scores, and then not for what still waits. */
const [maxMs, maxLeftMs] = [100_000, 30_000];
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-training-run-"));

/** An installation whose organization "large" has a history that was loaded without its ledger. */
async function prepare(): Promise<void> {
  const server = await Server.start({ dataDir: kept });
  await server.command("organization", "create", "large");
  const large = await idOf(server, "large");
  await server.kill("SIGTERM");
  const warehouse = await openChdbWarehouse({ folder: warehouseFolder(kept) });
  const toDay = Math.floor(Date.now() / msPerDay);
  await loadHistory(warehouse, {
    organization: large,
    events: millions * 1e6,
    users,
    days: 400,
    toDay,
  });
  await warehouse.close();
}

async function idOf(server: Server, name: string): Promise<number> {
  const list = await server.command("organization", "list");
  return Number(new RegExp(`^(\\d+) +${name} `, "m").exec(list)?.[1]);
}

/** Does something again and again until it is told to stop, and notes how long it takes. */
async function again(name: string, work: () => Promise<unknown>, restMs: number): Promise<void> {
  const took = new Histogram();
  let failures = 0;
  while (working) {
    const startedMs = performance.now();
    await work().catch(() => {
      failures += 1;
    });
    took.record(1_000 * (performance.now() - startedMs));
    await Bun.sleep(restMs);
  }
  const [median, p99] = [took.percentileMs(0.5), took.percentileMs(0.99)];
  report.push(
    `${name.padEnd(44)} ${took.count} times, median ${median.toFixed(0)}, p99 ${p99.toFixed(0)}, longest ${took.maxMs.toFixed(0)} ms${failures === 0 ? "" : `, ${failures} FAILED`}`,
  );
}

let working = true;
const report: string[] = [];

try {
  if (!existsSync(warehouseFolder(kept))) await prepare();
  cpSync(kept, dataDir, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  const server = await Server.start({ dataDir });
  try {
    await server.ready();
    const startedMs = performance.now();
    const large = (await server.command("key", "create", "--organization", "large")).trim();
    const token = await server.organization("small");
    const small = await idOf(server, "small");
    const analysis = (path: string, method = "GET") =>
      fetchSocket(socketPath(dataDir, "analysis"), path, { method }).then(async (response) => {
        if (!response.ok) throw new Error(`${path} answered ${response.status}`);
        return response.text();
      });
    const get = async (path: string) => {
      const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${large}` } });
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      return response.text();
    };
    const send = async (path: string, body: object) => {
      const response = await server.post(path, token, body);
      if (response.status !== 201) throw new Error(await response.text());
    };
    let visibleEvents = 0;
    const watch = new VisibilityWatch(async () => {
      visibleEvents = await analysis(`/counts?organization=${small}`).then(
        (text) => (JSON.parse(text) as { events: number }).events,
        () => visibleEvents,
      );
      return visibleEvents;
    });
    const person = (userId: string) => send("/identify", { userId, email: `${userId}@example.com` });
    await person("sender");
    await watch.start();
    let erased = 0;
    const probes = [
      again(
        "an erasure in another organization",
        async () => {
          const userId = `user-${erased++}`;
          await person(userId);
          await analysis(`/erase?organization=${small}&userId=${userId}`, "POST");
        },
        200,
      ),
      again("a score of another organization", () => analysis(`/score?organization=${small}`, "POST"), 200),
      again("a check of another organization", () => analysis(`/check?organization=${small}`), 5_000),
      again("GET /api/users", () => get("/api/users?limit=50"), 100),
      again("GET /api/retention", () => get("/api/retention"), 100),
      again(
        "POST /track",
        async () => {
          await send("/track", { userId: "sender", event: "opened" });
          watch.acknowledged();
        },
        50,
      ),
    ];
    const isScored = () =>
      get("/api/score-summary?kind=account").then(
        (text) => /"day":"/.test(text),
        () => false,
      );
    let scored = await isScored();
    for (; !scored && performance.now() - startedMs < maxMs; scored = await isScored()) await Bun.sleep(200);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    working = false;
    await Promise.race([Promise.all(probes), Bun.sleep(maxLeftMs)]);
    const visible = await watch.stop();
    console.log(
      `${millions} million events: everybody scored ${scored ? "after" : "NOT after"} ${seconds} s`,
    );
    for (const line of report.sort()) console.log(line);
    console.log(
      `acknowledged until visible: median ${visible.p50Ms.toFixed(0)}, p99 ${visible.p99Ms.toFixed(0)} ms`,
    );
    for (const [line] of server.output().matchAll(/^.*"msg":"scored".*$/gm)) console.log(line);
  } finally {
    await server.kill("SIGTERM");
  }
} finally {
  rmSync(dataDir, { recursive: true, force: true });
  if (process.argv[3] === undefined) rmSync(kept, { recursive: true, force: true });
}
process.exit(0);
