/** The ledger of a cluster, and this process as one of its nodes. */

import { Refusal } from "../../contract/refusal.ts";
import { type ClusterConfig, ConfigError } from "../config.ts";
import { features } from "../features/features.ts";
import type { NodeRole } from "../ledger/nodes.ts";
import { openPostgresLedger, type PostgresLedger } from "../ledger/postgres/ledger.ts";
import { ClusterNode } from "../ledger/postgres/node.ts";
import type { Logger } from "../process/log.ts";
import { messageOf } from "../process/message-of.ts";
import type { Time } from "../process/time.ts";
import { rekindleVersion } from "../process/version.ts";

/** A node that is open. */
export interface OpenedCluster {
  readonly ledger: PostgresLedger;
  readonly node: ClusterNode;
}

const retryMs = 500;
const sayEveryMs = 10_000;

/** Opens the ledger and starts this process as a node. While PostgreSQL cannot be reached it waits, and logs
 * why.
 * @throws Refusal, ConfigError when waiting does not help */
export async function openCluster(
  cluster: ClusterConfig,
  role: NodeRole,
  log: Logger,
  { nowMs }: Pick<Time, "nowMs">,
): Promise<OpenedCluster> {
  let saidMs = Number.NEGATIVE_INFINITY;
  while (true) {
    try {
      return await open(cluster, role, log, nowMs);
    } catch (error) {
      if (error instanceof Refusal || error instanceof ConfigError) throw error;
      if (!mayPass(error))
        throw new ConfigError(`PostgreSQL refuses the login: ${messageOf(error)}. See DATABASE_URL.`);
      if (role === "command") throw new Refusal(`PostgreSQL cannot be reached: ${messageOf(error)}.`);
      if (performance.now() - saidMs > sayEveryMs) {
        log.warn({ because: messageOf(error) }, "waiting for PostgreSQL");
        saidMs = performance.now();
      }
      await Bun.sleep(retryMs);
    }
  }
}

async function open(
  cluster: ClusterConfig,
  role: NodeRole,
  log: Logger,
  nowMs: () => number,
): Promise<OpenedCluster> {
  const { databaseUrl, databaseConnections: connections, nodeUrl } = cluster;
  const node = new ClusterNode({
    databaseUrl,
    role,
    version: rekindleVersion(),
    nowMs,
    log,
    nodeUrl: role === "analysis" ? nodeUrl : null,
  });
  let ledger: PostgresLedger | undefined;
  try {
    ledger = await openPostgresLedger({ features, url: databaseUrl, connections, nowMs, node });
    // The tables of nodes are made when the ledger is opened.
    await node.start();
    return { ledger, node };
  } catch (error) {
    await node.close();
    await ledger?.close();
    throw error;
  }
}

/** Whether a later attempt may succeed. Errors of authentication, databases and rights stay until they are
 * mended. */
function mayPass(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return !/^(28|3D|42)/.test(code);
}
