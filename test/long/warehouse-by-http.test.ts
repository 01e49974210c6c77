/** What is true of the embedded warehouse is true of one by HTTP: the same tests, on a server. */
import { openedOn, serverOfThisFile } from "../warehouse/clickhouse-support.ts";
import { openWarehousesBy } from "../warehouse/support.ts";

openWarehousesBy(openedOn(await serverOfThisFile(), { readers: 4 }));

await import("../warehouse/warehouse.test.ts");
await import("../warehouse/parameters.test.ts");
await import("../warehouse/fair.test.ts");
await import("../warehouse/export.test.ts");
await import("../warehouse/exclusions.test.ts");
await import("../warehouse/large-rules.test.ts");
await import("../warehouse/counts-of-events.test.ts");
