/** The contract of stores that are written once, on PostgreSQL. `npm test` proves them on SQLite. */
import { partsOfStores } from "./contract.ts";
import { postgresContract } from "./postgres-contract.ts";

postgresContract(partsOfStores);
