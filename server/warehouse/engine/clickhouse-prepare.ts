/** The requirements of a server before it is used as the warehouse: its version, the database, the tables. */
import { claimForLedger, refuseOtherLedger } from "../schema/ledger-identity.ts";
import { migrate, migrationsDone, warehouseMigrations } from "../schema/migrations.ts";
import type { ServerWarehouse } from "./server-warehouse.ts";
import { onCluster } from "./topology.ts";
import { refusals, Unusable } from "./unavailable.ts";
import { WarehouseError } from "./warehouse.ts";

/** Deduplication changed in 26.2 and 26.3. */
export const oldestClickHouse = "26.3";

interface Preparing {
  readonly database: string;
  /** False: another process makes the tables. */
  readonly migrates: boolean;
  /** The identity of the ledger whose rows it holds; undefined where the caller checks it. */
  readonly ledger: string | undefined;
}

/**
 * Creates the database and the tables, or only checks them.
 * @throws Refusal when the server cannot be used as it is, or belongs to another ledger
 * @throws WarehouseError when it cannot be reached, and when the tables are absent or of a newer version
 */
export async function prepare(
  warehouse: ServerWarehouse,
  { database, migrates, ledger }: Preparing,
): Promise<void> {
  try {
    await refuseOldVersion(warehouse);
    await createDatabase(warehouse, database);
    // First of all, so that tables of another ledger are not migrated.
    if (ledger !== undefined) await refuseOtherLedger(warehouse, ledger);
    if (ledger !== undefined && migrates) await claimForLedger(warehouse, ledger);
    if (migrates) await migrate(warehouse);
    else if ((await migrationsDone(warehouse)) < warehouseMigrations) throw new MissingTables();
  } catch (error) {
    const why = error instanceof WarehouseError ? refusals.get(error.code) : undefined;
    if (why === undefined) throw error;
    throw new Unusable(
      "ClickHouse refuses the user, the password or a right",
      `ClickHouse refuses what the warehouse needs: ${why}. It says: ${firstLine(error)}`,
      { cause: error },
    );
  }
}

/** Whether a server of this version can be the warehouse: `26.3.1.2` or newer. */
export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = oldestClickHouse.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

async function refuseOldVersion(warehouse: ServerWarehouse): Promise<void> {
  const [server] = await warehouse.rowsOutside<{ version: string }>("SELECT version() AS version");
  const version = server?.version ?? "unknown";
  if (isNewEnough(version)) return;
  throw new Unusable(
    "ClickHouse is too old",
    `ClickHouse is of version ${version}, and an older one than ${oldestClickHouse} does not deduplicate as the warehouse needs it: upgrade the server.`,
  );
}

/** Makes the database when it is not there. @throws WarehouseError */
export async function createDatabase(warehouse: ServerWarehouse, database: string): Promise<void> {
  try {
    await warehouse.commandOutside(
      `CREATE DATABASE IF NOT EXISTS \`${database}\`${onCluster(warehouse.topology)}`,
    );
  } catch (error) {
    // A user without the right to create the database can use an existing one.
    const [found] = await warehouse.rowsOutside<{ there: number }>(
      "SELECT count() AS there FROM system.databases WHERE name = {database:String}",
      { database },
    );
    if (found?.there !== 1) throw error;
  }
}

/** The server answers, but the leading analysis node has not created the tables yet. */
export class MissingTables extends WarehouseError {
  constructor() {
    super(0, "The warehouse's tables are not made yet: the leading analysis node makes them");
  }
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
}
