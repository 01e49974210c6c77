/**
 * Bytes an event: of its row, in PostgreSQL (inbox, message ids, write-ahead log) by the size of groups, and
 * in the warehouse with its rollups, with parts and merges. Bytes are exact on any machine; nothing here is a
 * time.
 *
 *   cli/with-bun bench/bytes.ts [thousands of events, 60 by default]
 */

import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import { features } from "../server/features/features.ts";
import { settingUp } from "../server/ledger/audit.ts";
import { openPool, type Sql } from "../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../server/ledger/postgres/ledger.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { PostgresServer } from "../test/postgres.ts";
import { type Node, storeEvents } from "./history/event-groups.ts";
import { loadHistory } from "./history/history.ts";

const events = Number(process.argv[2] ?? 60) * 1_000;
const groupSizes = [1, 8, 64, 512];

interface Sizes {
  readonly inbox: number;
  readonly messageIds: number;
  readonly wal: number;
}

async function sizesOf(sql: Sql): Promise<Sizes> {
  const [sizes] = await sql<Sizes[]>`
    SELECT pg_total_relation_size('inbox_000001') AS inbox, pg_total_relation_size('message_ids') AS "messageIds",
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint AS wal`;
  if (sizes === undefined) throw new Error("PostgreSQL did not say its sizes.");
  return sizes;
}

async function measureGroups(url: string, size: number, count: number): Promise<void> {
  const sql = openPool(url, { connections: 1 });
  const node = await openPostgresLedger({ features, url });
  const { id } = await node.organizations.create({ name: "acme", timezone: "UTC", nowMs: 1 }, settingUp);
  // The first change of a page after a checkpoint is logged whole: once a checkpoint, not once an event.
  await storeEvents(node, id, size);
  const before = await sizesOf(sql);
  let rowBytes = 0;
  for (let stored = 0; stored < count; stored += size) rowBytes += await storeEvents(node, id, size);
  const after = await sizesOf(sql);
  const each = (bytes: number) => (bytes / count).toFixed(0).padStart(6);
  console.log(
    `groups of ${String(size).padStart(3)}: row ${each(rowBytes)}, inbox ${each(after.inbox - before.inbox)}, ` +
      `message ids ${each(after.messageIds - before.messageIds)}, log ${each(after.wal - before.wal)} bytes an event`,
  );
  for (const compression of ["off", "pglz"]) {
    console.log(`  ${await firstAfterCheckpoint(sql, node, id, size, compression)}`);
  }
  await node.close();
  await sql.end();
}

/** Hashes of message ids fall on any page of their index, and the first change of a page after a checkpoint
 * is logged whole. */
async function firstAfterCheckpoint(sql: Sql, node: Node, id: number, size: number, compression: string) {
  await sql.unsafe(`ALTER SYSTEM SET wal_compression = ${compression}`);
  await sql`SELECT pg_reload_conf()`;
  await Bun.sleep(100);
  await sql.unsafe("CHECKPOINT");
  const before = await sizesOf(sql);
  const stored = Math.max(1_024, size);
  for (let done = 0; done < stored; done += size) await storeEvents(node, id, size);
  const each = ((await sizesOf(sql)).wal - before.wal) / stored;
  return `the first ${stored} after a checkpoint, wal_compression ${compression}: log ${each.toFixed(0)} bytes an event`;
}

async function measureWarehouse(warehouse: Warehouse): Promise<void> {
  const toDay = Math.floor(Date.UTC(2026, 5, 1) / 86_400_000);
  const history = await loadHistory(warehouse, {
    organization: 1,
    events: events * 10,
    users: events / 2,
    days: 182,
    toDay,
  });
  console.log(`\n${history.events} events of ${history.users} users in half a year:`);
  const tables = await warehouse.rows<{ name: string; bytes: number; rowCount: number; parts: number }>(`
    SELECT table AS name, sum(bytes_on_disk) AS bytes, sum(rows) AS "rowCount", count() AS parts FROM system.parts
    WHERE active AND database = currentDatabase() AND rows > 0 GROUP BY table ORDER BY bytes DESC`);
  for (const { name, bytes, rowCount, parts } of tables) {
    const each = (bytes / history.events).toFixed(2).padStart(6);
    console.log(`${name.padEnd(16)} ${each} bytes an event, ${rowCount} rows in ${parts} parts`);
  }
  const all = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(`together         ${(all / history.events).toFixed(2).padStart(6)}`);
  const counted = await warehouse.rows<{ event: string; value: number }>(`
    SELECT event, value FROM system.events
    WHERE event IN ('InsertQuery', 'InsertedRows', 'Merge', 'MergedRows', 'InsertedWideParts', 'InsertedCompactParts')
    ORDER BY event`);
  console.log(counted.map(({ event, value }) => `${event} ${value}`).join(", "));
}

const server = await PostgresServer.start();
try {
  for (const size of groupSizes) {
    // Commits of one event are slow on a busy machine, and their bytes do not change.
    const count = Math.min(events, size * 2_000);
    await measureGroups(await server.database(), size, count - (count % size));
  }
} finally {
  await server.stop();
}
await withTemporaryWarehouse(measureWarehouse);
process.exit(0);
