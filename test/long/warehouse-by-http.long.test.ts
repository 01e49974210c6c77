/** The tests of the embedded warehouse, run on a server by HTTP. */
import { openedOn, serverOfThisFile } from "../warehouse/clickhouse-support.ts";
import { openWarehousesBy } from "../warehouse/support.ts";

openWarehousesBy(openedOn(await serverOfThisFile(), { readers: 4 }));

await import("../warehouse/warehouse.test.ts");
await import("../warehouse/parameters.test.ts");
await import("../warehouse/fair.test.ts");
await import("../warehouse/export.long.test.ts");
await import("../warehouse/spilling.long.test.ts");
await import("../warehouse/exclusions.long.test.ts");
await import("../warehouse/large-rules.test.ts");
await import("../warehouse/counts-of-events.test.ts");
await import("../warehouse/record-keys.test.ts");
await import("../scoring/thin-scores.test.ts");
