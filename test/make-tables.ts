/** Makes the tables of a warehouse in a folder, for test/program.ts. */
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";

const warehouse = await openChdbWarehouse({ folder: process.argv[2] ?? "" });
await warehouse.close();
