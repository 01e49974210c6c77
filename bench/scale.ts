/**
 * Whether the model of intake on PostgreSQL (scale-model.ts) can be believed, and what it says of more machines. What a group
 * of 64 events takes is measured with one sender; from that alone the model foretells one to three nodes of four senders,
 * which are then measured, too, in rounds. The ratios are the model's error. docs/scale.md has the arithmetic that follows.
 *
 *   cli/with-bun bench/scale.ts [seconds a measurement, 2 by default]
 */

import { cpus } from "node:os";
import { settingUp } from "../server/ledger/ports/audit.ts";
import { openPool, type Sql } from "../server/ledger/postgres/client/connect.ts";
import { openPostgresLedger } from "../server/ledger/postgres/ledger.ts";
import { PostgresServer } from "../test/postgres.ts";
import { median } from "./alternate.ts";
import { databaseCpuMs, storeEvents } from "./event-groups.ts";
import { type GroupCost, type Outcome, type Shape, simulate } from "./scale-model.ts";

const rowsOfGroup = 64;
const seconds = Number(process.argv[2] ?? 2);
const roundCount = 3;
/** PostgreSQL's processes tell what they did about once a second. */
const statisticsMs = 1_500;

interface Measured {
  readonly groupsPerSecond: number;
  readonly medianMs: number;
  readonly cost: GroupCost;
  /** Groups that one sync of the log was for. */
  readonly groupsPerFlush: number;
  /** Of the cores' time, what others left: idle, or used by nodes and PostgreSQL. */
  readonly leftShare: number;
}

interface Flushes {
  readonly count: number;
  readonly tookMs: number;
}

async function flushesOf(sql: Sql): Promise<Flushes> {
  await Bun.sleep(statisticsMs);
  const [flushes] = await sql<Flushes[]>`
    SELECT coalesce(sum(fsyncs), 0)::bigint AS count, coalesce(sum(fsync_time), 0)::float8 AS "tookMs"
    FROM pg_stat_io WHERE object = 'wal' AND context = 'normal'`;
  if (flushes === undefined) throw new Error("PostgreSQL did not say how often it synced its log.");
  return flushes;
}

async function measure(url: string, nodeCount: number, sendersOfNode: number): Promise<Measured> {
  const sql = openPool(url, { connections: 1 });
  const nodes = await Promise.all(Array.from({ length: nodeCount }, () => openPostgresLedger({ url })));
  const [organization] = await sql<{ id: number }[]>`SELECT id FROM organizations`;
  const id = organization?.id ?? 0;
  for (const node of nodes) await storeEvents(node, id, rowsOfGroup);
  const flushesBefore = await flushesOf(sql);
  const databaseBeforeMs = await databaseCpuMs(sql);
  const cpuBefore = process.cpuUsage();
  const idleBeforeMs = idleMs();
  const took: number[] = [];
  const begunMs = performance.now();
  const send = async (node: (typeof nodes)[number]) => {
    while (performance.now() < begunMs + seconds * 1_000) {
      const sentMs = performance.now();
      await storeEvents(node, id, rowsOfGroup);
      took.push(performance.now() - sentMs);
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: sendersOfNode }, () => send(node))));
  const lastedMs = performance.now() - begunMs;
  const idle = idleMs() - idleBeforeMs;
  const cpu = process.cpuUsage(cpuBefore);
  const databaseMs = (await databaseCpuMs(sql)) - databaseBeforeMs;
  for (const node of nodes) await node.close();
  const flushesAfter = await flushesOf(sql);
  await sql.end();
  const flushes = flushesAfter.count - flushesBefore.count;
  const groups = took.length;
  const cost = {
    nodeMs: (cpu.user + cpu.system) / 1_000 / groups,
    databaseMs: databaseMs / groups,
    flushMs: (flushesAfter.tookMs - flushesBefore.tookMs) / flushes,
  };
  const ours = (cost.nodeMs + cost.databaseMs) * groups;
  const leftShare = Math.min(1, (idle + ours) / (lastedMs * cpus().length));
  const workMs = (cost.nodeMs + cost.databaseMs) / leftShare;
  const wayMs = Math.max(0, lastedMs / groups - workMs - cost.flushMs);
  return {
    groupsPerSecond: (groups * 1_000) / lastedMs,
    medianMs: took.toSorted((a, b) => a - b)[groups >> 1] ?? 0,
    cost: { ...cost, wayMs },
    groupsPerFlush: groups / flushes,
    leftShare,
  };
}

/** Time in which the machine's cores had nothing to do, all together. */
function idleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}

const percent = (share: number) => `${Math.round(share * 100)} %`;
const ms = (value: number) => `${value.toFixed(2)} ms`;

function printCost({ nodeMs, databaseMs, flushMs, wayMs }: GroupCost): void {
  console.log(
    `  of a group: node ${ms(nodeMs)}, PostgreSQL ${ms(databaseMs)}, a sync of the log ${ms(flushMs)}, ways ${ms(wayMs)}`,
  );
}

function printForetold(name: string, cost: GroupCost, shape: Shape): void {
  const { groupsPerSecond, medianMs, busy } = simulate(cost, shape);
  console.log(
    `${name}: ${Math.round(groupsPerSecond * rowsOfGroup)} events/s, median ${medianMs.toFixed(1)} ms; busy: nodes ` +
      `${percent(busy.thread)}, PostgreSQL's cores ${percent(busy.cores)}, log ${percent(busy.log)}`,
  );
}

/** What one round found: the cost, and for each number of nodes what was foretold from it and measured. */
async function round(url: string): Promise<{ cost: GroupCost; runs: readonly Run[] }> {
  const alone = await measure(url, 1, 1);
  const runs: Run[] = [];
  for (const nodes of [1, 2, 3]) {
    const shape: Shape = { nodes, sendersOfNode: 4, threads: "one", databaseCores: 2, isOneMachine: true };
    const measured = await measure(url, nodes, 4);
    const { nodeMs, databaseMs } = alone.cost;
    // Disk and cores are everybody's: what others leave changes from one second to the next, and is no finding of the model.
    const cost = {
      ...alone.cost,
      nodeMs: nodeMs / measured.leftShare,
      databaseMs: databaseMs / measured.leftShare,
      flushMs: measured.cost.flushMs,
    };
    runs.push({ nodes, measured, blind: simulate(alone.cost, shape), foretold: simulate(cost, shape) });
  }
  return { cost: alone.cost, runs };
}

interface Run {
  readonly nodes: number;
  readonly measured: Measured;
  /** From what one sender needed alone. */
  readonly blind: Outcome;
  /** The same with what others left of disk and cores in the run. */
  readonly foretold: Outcome;
}

function printRuns(nodes: number, runs: readonly Run[]): void {
  const of = (figure: (run: Run) => number) => median(runs.map(figure));
  const ratios = (of: (run: Run) => Outcome) => {
    const sorted = runs
      .map((run) => of(run).groupsPerSecond / run.measured.groupsPerSecond)
      .toSorted((a, b) => a - b);
    return `${median(sorted).toFixed(2)} (${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)})`;
  };
  console.log(
    `${nodes} node${nodes === 1 ? "" : "s"}: measured ${of(({ measured }) => measured.groupsPerSecond).toFixed(0)} groups/s, ` +
      `median ${ms(of(({ measured }) => measured.medianMs))}; foretold of measured ${ratios(({ foretold }) => foretold)}, ` +
      `blind ${ratios(({ blind }) => blind)}; groups a sync ${of(({ measured }) => measured.groupsPerFlush).toFixed(1)}, ` +
      `others left ${percent(of(({ measured }) => measured.leftShare))} of the cores`,
  );
  printCost(middleCost(runs.map(({ measured }) => measured.cost)));
}

/** The median of each figure. */
function middleCost(costs: readonly GroupCost[]): GroupCost {
  const of = (figure: (cost: GroupCost) => number) => median(costs.map(figure));
  return {
    nodeMs: of(({ nodeMs }) => nodeMs),
    databaseMs: of(({ databaseMs }) => databaseMs),
    flushMs: of(({ flushMs }) => flushMs),
    wayMs: of(({ wayMs }) => wayMs),
  };
}

const server = await PostgresServer.start();
try {
  const settings = openPool(server.url("postgres"), { connections: 1 });
  await settings.unsafe("ALTER SYSTEM SET track_wal_io_timing = on");
  await settings`SELECT pg_reload_conf()`;
  await settings.end();
  const url = await server.database();
  const first = await openPostgresLedger({ url });
  await first.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
  await first.close();
  const rounds: Awaited<ReturnType<typeof round>>[] = [];
  for (let count = 0; count < roundCount; count += 1) rounds.push(await round(url));
  const cost = middleCost(rounds.map((one) => one.cost));
  console.log(`One node with one sender, ${roundCount} rounds:`);
  printCost(cost);
  console.log("On this machine, 4 senders a node:");
  for (const nodes of [1, 2, 3]) {
    printRuns(
      nodes,
      rounds.flatMap(({ runs }) => runs.filter((run) => run.nodes === nodes)),
    );
  }
  console.log("Foretold where every node has a machine of its own, 8 senders a node:");
  for (const databaseCores of [4, 16]) {
    for (const nodes of [2, 4, 8, 16, 32]) {
      printForetold(`${nodes} nodes, PostgreSQL with ${databaseCores} cores`, cost, {
        ...{ nodes, sendersOfNode: 8, threads: "each", databaseCores, isOneMachine: false },
      });
    }
  }
} finally {
  await server.stop();
}
process.exit(0);
