/** The long work on a cluster's tables. There is no Keeper: the engine's parser reads each statement as it is, a statement
 * that would be done on one replica only is refused, and the tables that are made are plain ones. */
import { openedOn, serverOfThisFile } from "../warehouse/clickhouse-support.ts";
import { openWarehousesBy } from "../warehouse/support.ts";

const cluster = "main";
openWarehousesBy(openedOn(await serverOfThisFile({ cluster }), { cluster, readers: 4 }));

await import("../warehouse/rollups.test.ts");
await import("../warehouse/erase.test.ts");
await import("../warehouse/erase-account.test.ts");
