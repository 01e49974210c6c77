/** The long work on a cluster's tables. There is no Keeper. The engine's parser reads each statement as it
 * is, and the tables that are made are plain ones. A statement for one replica only is refused. */
import { openedOn, serverOfThisFile } from "../warehouse/clickhouse-support.ts";
import { openWarehousesBy } from "../warehouse/support.ts";

const cluster = "main";
openWarehousesBy(openedOn(await serverOfThisFile({ cluster }), { cluster, readers: 4 }));

await import("../warehouse/record-keys.test.ts");
await import("../scoring/thin-scores.test.ts");
await import("../warehouse/rollups.long.test.ts");
await import("../warehouse/erase.long.test.ts");
await import("../warehouse/erase-account.long.test.ts");
