/**
 * Moves an embedded installation to PostgreSQL and ClickHouse. Everything is checked before anything is
 * copied. The warehouse is copied first, then the ledger in one transaction. The data folder is only read,
 * except by an upgrade. A mark in the folder prevents both installations from taking writes.
 */

import { existsSync } from "node:fs";
import { Refusal } from "../../contract/refusal.ts";
import { features } from "../features/features.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { openPostgresLedger } from "../ledger/postgres/ledger.ts";
import {
  finishMoveIn,
  isMoveInUnfinished,
  type MoveProgress,
  moveIntoPostgres,
  refuseFilledLedger,
} from "../ledger/postgres/move-in.ts";
import { ledgerFile } from "../ledger/sqlite/ledger-file.ts";
import { openSqliteLedger } from "../ledger/sqlite/open.ts";
import { warehouseFolder } from "../process/data-folder.ts";
import { takeLock } from "../process/lock.ts";
import type { Logger } from "../process/log.ts";
import { messageOf } from "../process/message-of.ts";
import type { Time } from "../process/time.ts";
import { openAnalysis, takeAnalysisLock } from "../warehouse/analysis.ts";
import { finishMove, moveTables, refuseFilledTables } from "../warehouse/copies/move-tables.ts";
import { openChdbWarehouse } from "../warehouse/engine/chdb.ts";
import { openClickHouseWarehouse } from "../warehouse/engine/clickhouse.ts";
import type { ServerWarehouse } from "../warehouse/engine/server-warehouse.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { acknowledgedOf, checkOrganization, describeDifference } from "../warehouse/upkeep/check.ts";
import { isMoving, markMove, refuseMoved } from "./moved.ts";

/** Where to. */
export interface MoveTarget {
  /** As `DATABASE_URL` has it. */
  readonly databaseUrl: string;
  /** As `CLICKHOUSE_URL` has it. */
  readonly clickhouseUrl: string;
  /** As `CLICKHOUSE_CLUSTER` has it; null for a single server. */
  readonly clickhouseCluster: string | null;
}

export interface MoveSummary {
  /** Rows by table: what each holds, compared on both sides. */
  readonly warehouse: Readonly<Record<string, number>>;
  readonly ledger: Readonly<Record<string, number>>;
}

interface Working {
  readonly log: Logger;
  readonly time: Time;
}

/**
 * Moves the installation in `dataDir`, on which no server runs.
 * @throws Refusal, WarehouseError; then the installation is as it was, and can be started or moved again.
 * Once the ledger is moved only the latter: the move is finished then, and what it returns is empty.
 */
export async function migrateTo(
  dataDir: string,
  target: MoveTarget,
  { log, time }: Working,
  progress: (progress: MoveProgress) => void,
): Promise<MoveSummary> {
  const file = ledgerFile(dataDir);
  if (!existsSync(file)) throw new Refusal(`there is no installation in ${dataDir}: set DATA_DIR to it.`);
  if (!isMoving(dataDir)) refuseMoved(dataDir);
  const lock = takeLock(dataDir, "ledger");
  if (lock === undefined) {
    throw new Refusal(
      `${dataDir} is in use by a running rekindle: stop it, so that nothing comes after it was moved.`,
    );
  }
  try {
    const analysisLock = await takeAnalysisLock(dataDir);
    try {
      return await moveLocked(dataDir, target, { log, time }, progress);
    } finally {
      analysisLock.release();
    }
  } finally {
    lock.release();
  }
}

async function moveLocked(
  dataDir: string,
  { databaseUrl, clickhouseUrl, clickhouseCluster }: MoveTarget,
  { log, time }: Working,
  progress: (progress: MoveProgress) => void,
): Promise<MoveSummary> {
  const url = databaseUrl;
  const isHalfDone = isMoving(dataDir) && (await isMoveInUnfinished(url).catch(saidOf("PostgreSQL")));
  const identity = isHalfDone
    ? undefined
    : await refuseFilledLedger(url, features).catch(saidOf("PostgreSQL"));
  const target = await openClickHouseWarehouse({
    url: clickhouseUrl,
    cluster: clickhouseCluster,
    isMove: true,
  });
  try {
    const moved =
      identity === undefined
        ? { warehouse: {}, ledger: {} }
        : await moveBoth(dataDir, target, { url, identity, log, time, progress });
    await finishMove(target);
    await finishMoveIn(url);
    await markMove(dataDir, "moved", time.nowMs());
    const ledger = await openPostgresLedger({ url, features });
    await refuseDifferences(ledger, target).finally(() => ledger.close());
    return moved;
  } finally {
    await target.close();
  }
}

interface Moving extends Working {
  readonly url: string;
  /** Of the ledger there. */
  readonly identity: string;
  readonly progress: (progress: MoveProgress) => void;
}

/** Up to the commit in PostgreSQL. The folder is marked before the commit. From then on neither installation
 * starts until the next run has finished the move. */
async function moveBoth(
  dataDir: string,
  target: ServerWarehouse,
  { url, identity, log, time, progress }: Moving,
): Promise<MoveSummary> {
  await refuseFilledTables(target, identity);
  await makeWhole(dataDir, { log, time });
  const source = await openChdbWarehouse({ folder: warehouseFolder(dataDir) });
  const warehouse = await moveTables(source, target, identity, progress).finally(() => source.close());
  const beforeCommit = () => markMove(dataDir, "moving", time.nowMs());
  const ledger = await moveIntoPostgres({ url, features, progress, beforeCommit, file: ledgerFile(dataDir) });
  return { warehouse, ledger };
}

/** An error of a server as a message for people. The messages of driver and engine contain no password. */
function saidOf(server: string): (error: unknown) => never {
  return (error) => {
    if (error instanceof Refusal) throw error;
    const words = messageOf(error);
    throw new Refusal(`${server} cannot be used: ${words}`, { cause: error });
  };
}

/** Loads all rows, finishes erasures and rebuilds, and compares ledger and warehouse. */
async function makeWhole(dataDir: string, { log, time }: Working): Promise<void> {
  const ledger = await openSqliteLedger({ file: ledgerFile(dataDir), features });
  try {
    const analysis = await openAnalysis(dataDir, ledger, log, time);
    try {
      await analysis.drain();
      for (const { id, name } of await ledger.organizations.list()) {
        const [difference, ...more] = await analysis.check(id);
        if (difference === undefined) continue;
        throw new Refusal(
          `the ledger and the warehouse of ${name} differ before the move (${difference}${more.length > 0 ? `, and ${more.length} more` : ""}): ` +
            "see rekindle doctor, which says what to do.",
        );
      }
    } finally {
      await analysis.close();
    }
  } finally {
    await ledger.close();
  }
}

/** Compares the new ledger and warehouse as `doctor` does. */
async function refuseDifferences(ledger: Ledger, warehouse: Warehouse): Promise<void> {
  for (const { id, name } of await ledger.organizations.list()) {
    const [difference] = await checkOrganization(warehouse, id, await acknowledgedOf(ledger, id));
    if (difference === undefined) continue;
    throw new Refusal(
      `everything was moved and compared, and yet ${name} differs there (${describeDifference(difference)}): run rekindle doctor on the cluster.`,
    );
  }
}
