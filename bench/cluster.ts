/**
 * Durable groups of track rows a second: one, two and three nodes on one PostgreSQL, and SQLite in the same
 * run. A group has 64 events with message ids, in one commit; each node has four senders that wait for their
 * commits.
 *
 *   cli/with-bun bench/cluster.ts [seconds]
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../server/features/features.ts";
import { settingUp } from "../server/ledger/audit.ts";
import { openPostgresLedger } from "../server/ledger/postgres/ledger.ts";
import { openSqliteLedger } from "../server/ledger/sqlite/open.ts";
import { inboxRows, messageOf, needs, writes } from "../test/ledger/writes.ts";
import { PostgresServer } from "../test/postgres.ts";
import type { Node } from "./history/event-groups.ts";
import { median } from "./load/alternate.ts";

const rowsOfGroup = 64;
const sendersOfNode = 4;
const seconds = Number(process.argv[2] ?? 3);
const line = "x".repeat(300);

/** @returns groups a second of all nodes together, and the median milliseconds of a group */
async function measure(nodes: readonly Node[]): Promise<{ perSecond: number; medianMs: number }> {
  const [first] = nodes;
  if (first === undefined) throw new Error("there are no nodes");
  const { id } = await first.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
  const took: number[] = [];
  const end = performance.now() + seconds * 1_000;
  const send = async (node: Node) => {
    while (performance.now() < end) {
      const begun = performance.now();
      await storeGroup(node, id);
      took.push(performance.now() - begun);
    }
  };
  await Promise.all(nodes.flatMap((node) => Array.from({ length: sendersOfNode }, () => send(node))));
  return { perSecond: took.length / seconds, medianMs: median(took) };
}

function storeGroup(node: Node, organization: number): Promise<void> {
  const keys = Array.from({ length: rowsOfGroup }, () => ({
    organization,
    kind: "track" as const,
    messageId: crypto.randomUUID(),
  }));
  return node.transact(needs({ messageIds: keys }), (stored) =>
    writes(Date.now(), {
      messages: keys.map((key) => messageOf(stored, key)),
      inbox: [inboxRows(keys.map(() => line))],
      dayCounts: [{ organization, utcDay: 20_000, events: rowsOfGroup, checksum: 1 }],
    }),
  );
}

async function report(name: string, nodes: readonly Node[]): Promise<void> {
  try {
    const { perSecond, medianMs } = await measure(nodes);
    const rows = Math.round(perSecond * rowsOfGroup);
    console.log(
      `${name}: ${perSecond.toFixed(0)} groups/s, ${rows} rows/s, median ${medianMs.toFixed(1)} ms`,
    );
  } finally {
    for (const node of nodes) await node.close();
  }
}

const folder = mkdtempSync(join(tmpdir(), "rekindle-cluster-"));
const server = await PostgresServer.start();
try {
  await report("SQLite", [await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") })]);
  for (const count of [1, 2, 3]) {
    const url = await server.database();
    const nodes = await Promise.all(
      Array.from({ length: count }, () => openPostgresLedger({ features, url })),
    );
    await report(`PostgreSQL, ${count} node${count === 1 ? "" : "s"}`, nodes);
  }
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
