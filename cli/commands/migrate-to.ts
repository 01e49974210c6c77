/** `rekindle migrate-to` */
import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { readConfig, readMoveVariables } from "../../server/config.ts";
import { createLogger } from "../../server/process/log.ts";
import { systemTime } from "../../server/process/time.ts";
import { grouped, printTable } from "../print.ts";
import { Progress } from "../progress.ts";

interface Options {
  readonly databaseUrl?: string;
  readonly clickhouseUrl?: string;
  readonly clickhouseCluster?: string;
}

export function migrateToCommand(): Command {
  return new Command("migrate-to")
    .description("Move this machine's installation to PostgreSQL and ClickHouse; stop the server before")
    .option("--database-url <address>", "of an empty database: postgres://user:password@host/database")
    .option("--clickhouse-url <address>", "of a new database: http://user:password@host:8123/database")
    .option("--clickhouse-cluster <name>", "make the tables replicated, on every server of this cluster")
    .addHelpText(
      "after",
      "\nOptions are seen in the list of processes. TARGET_DATABASE_URL and TARGET_CLICKHOUSE_URL are not, and mean the same.",
    )
    .action(async ({ clickhouseCluster, ...options }: Options) => {
      const { databaseUrl, clickhouseUrl } = readMoveVariables(options);
      if (databaseUrl === undefined || clickhouseUrl === undefined) {
        throw new Refusal(
          "the target is missing: give --database-url and --clickhouse-url, or the variables that --help names.",
        );
      }
      const { dataDir, cluster } = readConfig();
      if (cluster !== null) {
        throw new Refusal(
          "DATABASE_URL and CLICKHOUSE_URL are set, so this is a cluster already: unset them, and name the new one by the options.",
        );
      }
      const startedMs = performance.now();
      const line = new Progress("rows");
      const { migrateTo } = await import("../../server/cluster/migrate-to.ts");
      const target = { databaseUrl, clickhouseUrl, clickhouseCluster: clickhouseCluster ?? null };
      const working = { log: createLogger("analysis", "warn"), time: systemTime };
      const moved = await migrateTo(dataDir, target, working, (position) => {
        const { table, rows, of } = position;
        line.show({
          step: table,
          done: rows,
          fraction: of === undefined || of === 0 ? undefined : rows / of,
        });
      }).finally(() => line.end());
      if (Object.keys(moved.ledger).length === 0)
        process.stderr.write("a move that had been cut off is finished\n");
      const rowsOf = (store: keyof typeof moved) =>
        Object.entries(moved[store]).map(([table, rows]) => [store, table, grouped(rows)]);
      printTable(["store", "table", "rows"], [...rowsOf("ledger"), ...rowsOf("warehouse")]);
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      process.stderr.write(
        `moved in ${seconds} s, and every count and sum is the same on both sides. Start the service with DATABASE_URL ` +
          `and CLICKHOUSE_URL now; ${dataDir} keeps what it had, and does not start any more without them.\n`,
      );
    });
}
