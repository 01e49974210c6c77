/**
 * The cost of intake: durable `/track` requests a second and their latency at 64 connections, compared with a
 * bare echo on Bun and on Node, in alternating rounds. Alone, and with the loader, its rollups and three
 * readers. Also how soon an event is visible, and memory.
 *
 *   cli/with-bun bench/intake.ts [rounds] [seconds a round] [seconds of steady load]
 */
import { join } from "node:path";
import { alternate, formatTable } from "./load/alternate.ts";
import { eventWithId as event, users } from "./load/events.ts";
import { Installation } from "./load/installation.ts";
import { type Load, runLoad } from "./load/load.ts";
import { startServer } from "./load/start-server.ts";
import { VisibilityWatch } from "./load/visibility.ts";

const rounds = Number(process.argv[2] ?? 7);
const secondsARound = Number(process.argv[3] ?? 4);
const steadySeconds = Number(process.argv[4] ?? 60);
const steadyPerSecond = 5_000;

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0);

function printMemory(when: string, installation: Installation): void {
  const { intakeBytes, analysisBytes } = installation.memory();
  console.log(`memory ${when}: intake ${megabytes(intakeBytes)} MB, analysis ${megabytes(analysisBytes)} MB`);
}

async function compareWithEchoes(installation: Installation): Promise<void> {
  const bun = await startServer(process.execPath, join(import.meta.dir, "load", "echo-bun.ts"));
  const node = await startServer("node", join(import.meta.dir, "load", "echo-node.mjs"));
  const measure = (load: Pick<Load, "port" | "path" | "headers">) => () =>
    runLoad({ ...load, request: event, warmUpSeconds: 0.3, seconds: secondsARound });
  const { port, headers } = installation;
  try {
    const variants = [
      { name: "Bun echo", measure: measure({ port: bun.port, path: "/" }) },
      { name: "durable /track", measure: measure({ port, path: "/track", headers }) },
      { name: "Node echo", measure: measure({ port: node.port, path: "/" }) },
    ];
    console.log(formatTable(await alternate(variants, rounds)));
  } finally {
    await Promise.all([bun.stop(), node.stop()]);
  }
}

/** Three readers that send one query after another while `work` runs. */
async function withReaders(installation: Installation, work: () => Promise<void>): Promise<void> {
  const questions = [
    () => "/api/retention",
    () => "/api/active-users?days=90",
    () => `/api/users/user-${Math.floor(Math.random() * users)}/timeline?limit=50`,
  ];
  let working = true;
  const answered = questions.map(async (question) => {
    let answers = 0;
    while (working) {
      await installation.ask(question());
      answers += 1;
      // Like a person who looks at pages, not like a loop that uses a whole core.
      await Bun.sleep(100);
    }
    return answers;
  });
  await work();
  working = false;
  const [retention, activeUsers, timeline] = await Promise.all(answered);
  console.log(`readers' answers: retention ${retention}, active users ${activeUsers}, timeline ${timeline}`);
}

async function alone(): Promise<void> {
  console.log("\nwithout analysis");
  const installation = await Installation.start({ role: "intake" });
  await installation.identify(users);
  await compareWithEchoes(installation);
  await installation.server.stop();
}

async function withEverything(): Promise<void> {
  console.log("\nwith the loader, rollups and three readers");
  const installation = await Installation.start();
  await installation.server.ready();
  await Bun.sleep(3_000);
  printMemory("idle", installation);
  await installation.identify(users);
  const cpuBefore = installation.cpuSeconds().analysis;
  const rowsBefore = await installation.rowsLoaded();
  await withReaders(installation, () => compareWithEchoes(installation));
  printMemory("under load", installation);
  await installation.drained();
  const rows = (await installation.rowsLoaded()) - rowsBefore;
  const cpuMicroseconds = (installation.cpuSeconds().analysis - cpuBefore) * 1_000_000;
  console.log(
    `analysis: ${(cpuMicroseconds / rows).toFixed(1)} µs of CPU a row, readers included; ${rows} rows`,
  );
  await installation.server.stop();
}

/** Sends at a steady pace, and measures how soon acknowledged events are in the warehouse. */
async function visibility(): Promise<void> {
  console.log(`\nacknowledged → visible at ${steadyPerSecond} a second for ${steadySeconds} s`);
  const installation = await Installation.start();
  await installation.identify(users);
  await installation.drained();
  const watch = new VisibilityWatch(() => installation.eventsVisible());
  await watch.start();
  const { port, headers } = installation;
  const result = await runLoad({
    port,
    path: "/track",
    headers,
    request: event,
    requestsPerSecond: steadyPerSecond,
    answered: (_n, status) => {
      if (status === 201) watch.acknowledged();
    },
    seconds: steadySeconds,
  });
  const { p50Ms, p99Ms } = await watch.stop();
  console.log(`visible: p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`);
  console.log(
    `answers: p50 ${result.p50Ms.toFixed(2)} ms, p99 ${result.p99Ms.toFixed(2)} ms; ${result.requests}`,
  );
  printMemory("under steady load", installation);
  await installation.server.stop();
}

await alone();
await withEverything();
await visibility();
process.exit(0);
