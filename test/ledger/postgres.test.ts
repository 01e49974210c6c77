/** The contract of what PostgreSQL has its own implementation of. */
import { partsOfDatabases } from "./contract.ts";
import { postgresContract } from "./postgres-contract.ts";

postgresContract(partsOfDatabases);
