/** The stores of intake: the machine's own ledger and engine, or those that the nodes of a cluster share. */

import { Refusal } from "../../contract/refusal.ts";
import { AnalysisNodes } from "../between/analysis-nodes.ts";
import { refuseMoved } from "../cluster/moved.ts";
import type { Config } from "../config.ts";
import { features } from "../features/features.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ClusterNode } from "../ledger/postgres/node.ts";
import { ledgerFile } from "../ledger/sqlite/ledger-file.ts";
import { openSqliteLedger, type SqliteLedgerOptions } from "../ledger/sqlite/open.ts";
import { type Peer, socketPeer } from "../process/control.ts";
import { warehouseFolder } from "../process/data-folder.ts";
import { takeLock } from "../process/lock.ts";
import type { Logger } from "../process/log.ts";
import { socketPath } from "../process/sockets.ts";
import type { Time } from "../process/time.ts";
import { waitUpTo } from "../process/wait-up-to.ts";
import { refuseLostLedger, refuseLostWarehouse } from "./lost-store.ts";

/** For each of the steps of leaving that a silent PostgreSQL could hold up. */
const maxStepMs = 1_000;

/** Options that may differ from the ledger's defaults. */
export type LedgerOptions = Pick<SqliteLedgerOptions, "inboxMaxRetainedBytes">;

export interface Stores {
  readonly ledger: Ledger;
  /** This process among others; undefined on one machine with its own engines. */
  readonly node: ClusterNode | undefined;
  /** The process or node that answers questions. */
  readonly analysis: Peer;
  /** The process or node whose metrics are added to this one's. */
  readonly metered: Peer;
  close(): Promise<void>;
}

/** Opens the stores that the configuration names. @throws Refusal when another service holds the data
 * folder */
export async function openStores(
  config: Config,
  log: Logger,
  time: Time,
  options: LedgerOptions,
): Promise<Stores> {
  const lock = takeLock(config.dataDir, "ledger");
  if (lock === undefined) {
    throw new Refusal(
      `${config.dataDir} is in use by another rekindle: stop that one, or set DATA_DIR to another folder.`,
    );
  }
  if (lock.openFilesWarning !== undefined) log.warn(lock.openFilesWarning);
  const own = socketPeer(socketPath(config.dataDir, "analysis"));
  if (config.cluster === null) {
    refuseMoved(config.dataDir);
    const [file, warehouse] = [ledgerFile(config.dataDir), warehouseFolder(config.dataDir)];
    refuseLostLedger(file, warehouse);
    const ledger = await openSqliteLedger({ file, features, clock: time.nowMs, ...options });
    refuseLostWarehouse((await ledger.inbox.backlog()).loadedUptoInboxId, warehouse);
    const close = async () => {
      await ledger.close();
      lock.release();
    };
    return { ledger, node: undefined, analysis: own, metered: own, close };
  }
  // Loaded for a cluster only: the client of PostgreSQL takes a tenth of the time in which a process starts.
  const { openCluster } = await import("../cluster/open-cluster.ts");
  const { ledger, node } = await openCluster(config.cluster, "intake", log, time);
  const analysis = new AnalysisNodes({ own, live: () => node.live, key: await node.key() });
  const close = async () => {
    analysis.stop();
    await waitUpTo(maxStepMs, node.leave());
    await waitUpTo(maxStepMs, Promise.all([node.close(), ledger.close()]));
    lock.release();
  };
  return { ledger, node, analysis, metered: analysis.metered, close };
}
