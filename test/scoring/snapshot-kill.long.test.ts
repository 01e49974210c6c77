/** Kills a process with SIGKILL while it writes snapshots. A record that is valid afterwards has all rows of its snapshot. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { read } from "../../server/scoring/queries/query.ts";
import { computedRows, storedRows } from "../../server/scoring/queries/snapshot-rows.ts";
import { recordOf } from "../../server/scoring/run/records.ts";
import { snapshotFor } from "../../server/scoring/snapshots/stored.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { all } from "./run-support.ts";
import { weightedBy } from "./snapshot-kill-support.ts";

const kills = 4;
const users = 300;

/** Runs the child, and kills it some time after it has written a snapshot. */
async function writeUntilKilled(folder: string, afterMs: number): Promise<void> {
  const program = Bun.fileURLToPath(new URL("./snapshot-child.ts", import.meta.url));
  const child = Bun.spawn([process.execPath, program, folder], { stdout: "pipe", stderr: "inherit" });
  let killer: Timer | undefined;
  for await (const _ of child.stdout) killer ??= setTimeout(() => child.kill("SIGKILL"), afterMs);
  await child.exited;
  clearTimeout(killer);
  expect(child.signalCode).toBe("SIGKILL");
}

async function volumes(warehouse: Warehouse, rows: Parameters<typeof read>[1]): Promise<readonly unknown[]> {
  return read(warehouse, {
    ...rows,
    sql: `SELECT entity, volume28, idleDays FROM (${rows.sql}) ORDER BY entity`,
  });
}

/** @returns how many snapshots are valid */
async function check(warehouse: Warehouse): Promise<number> {
  let valid = 0;
  for (const kind of ["user", "account"] as const) {
    const record = await recordOf(warehouse, { organization: 1, kind, what: "snapshot" }, 100);
    const computed = (weight: number) => volumes(warehouse, computedRows(weightedBy(kind, weight), 100));
    if (record === undefined) {
      // The process writes users first and is killed after that, at the earliest.
      expect(kind).toBe("account");
    } else if (!record.stale) {
      valid += 1;
      const { settingsKey, rowsVersion } = record.body;
      const { weights } = JSON.parse(settingsKey) as { weights: [string, number][] };
      const rows = storedRows({ kind, organization: 1, day: 100, rowsVersion });
      expect(await volumes(warehouse, rows)).toEqual([...(await computed(weights[0]?.[1] ?? 0))]);
    }
    const { entities } = await snapshotFor(warehouse, weightedBy(kind, 7), 100);
    expect(await volumes(warehouse, entities)).toEqual([...(await computed(7))]);
  }
  return valid;
}

test("a process that is killed while it writes snapshots leaves whole ones, or none", async () => {
  const random = randomOfThisRun("snapshot kills");
  const folder = await mkdtemp(join(tmpdir(), "rekindle-snapshots-"));
  const opened = async (work: (warehouse: Warehouse) => Promise<unknown>) => {
    const warehouse = await openChdbWarehouse({ folder });
    try {
      await work(warehouse);
    } finally {
      await warehouse.close();
    }
  };
  try {
    const events = all(1, users, [75, 80, 85, 90, 99]);
    const body = Buffer.from(`${events.map(eventRow).join("\n")}\n`);
    await opened((warehouse) =>
      warehouse.insertFrozen({
        table: "events",
        schema: currentSchema.events,
        rows: events.length,
        body,
        token: "events",
      }),
    );
    let valid = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      // The first kill comes before accounts have a snapshot.
      await writeUntilKilled(folder, kill === 0 ? 0 : random.between(0, 400));
      await opened(async (warehouse) => {
        valid += await check(warehouse);
      });
    }
    console.log(`${valid} of ${2 * kills} snapshots were valid after a kill`);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 180_000);
