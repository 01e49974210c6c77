/** doctor's checks of a cluster's servers, before anything is opened on them: opening a ledger would report
 * only the first fault. */
import type { ClusterConfig } from "../server/config.ts";
import { openPool } from "../server/ledger/postgres/connect.ts";
import { ledgerIdentity } from "../server/ledger/postgres/migrations/migrations.ts";
import { livingNodes, probePostgres } from "../server/ledger/postgres/probe.ts";
import { messageOf } from "../server/process/message-of.ts";
import type { Probed } from "../server/process/probed.ts";
import { systemTime } from "../server/process/time.ts";
import { connectClickHouse } from "../server/warehouse/engine/clickhouse.ts";
import { probeClickHouse } from "../server/warehouse/engine/probe.ts";
import { refuseOtherLedger } from "../server/warehouse/schema/ledger-identity.ts";

/** Looks at PostgreSQL. A server that does not answer is one thing that is not as it should be. */
export async function probeDatabase(cluster: ClusterConfig): Promise<readonly Probed[]> {
  const sql = openPool(cluster.databaseUrl, { connections: 1, statementTimeoutMs: 10_000 });
  try {
    const nodes = await livingNodes(sql);
    return await probePostgres(sql, {
      connections: cluster.databaseConnections,
      nodes,
      nowMs: systemTime.nowMs,
    });
  } catch (error) {
    return [silent(messageOf(error), "DATABASE_URL")];
  } finally {
    await sql.end();
  }
}

/** Checks ClickHouse, and tests on a table of its own the features that loading relies on. */
export async function probeWarehouse(cluster: ClusterConfig): Promise<readonly Probed[]> {
  const probed = await probeClickHouse({ url: cluster.clickhouseUrl, cluster: cluster.clickhouseCluster });
  return probed.map((one) => (one.name === notAnswering ? silent(one.words, "CLICKHOUSE_URL") : one));
}

/** Whether ClickHouse belongs to this ledger; no finding while there is no ledger. */
export async function probeIdentity(cluster: ClusterConfig): Promise<readonly Probed[]> {
  const sql = openPool(cluster.databaseUrl, { connections: 1, statementTimeoutMs: 10_000 });
  const warehouse = connectClickHouse({ url: cluster.clickhouseUrl, cluster: cluster.clickhouseCluster });
  const name = "ledger";
  try {
    const [made] = await sql<{ table: string | null }[]>`SELECT to_regclass('ledger_form')::text AS table`;
    if (typeof made?.table !== "string") return [];
    await refuseOtherLedger(warehouse, await ledgerIdentity(sql));
    return [{ name, ok: true, words: "the one in DATABASE_URL" }];
  } catch (error) {
    return [{ name, ok: false, words: messageOf(error) }];
  } finally {
    await Promise.all([sql.end(), warehouse.close()]);
  }
}

/** Whether the server answered: otherwise nothing on it can be opened. */
export function hasAnswered(probed: readonly Probed[]): boolean {
  return probed.every(({ name }) => name !== notAnswering);
}

const notAnswering = "answers";

function silent(words: string, variable: string): Probed {
  return { name: notAnswering, ok: false, words: `${words}: see ${variable}` };
}
