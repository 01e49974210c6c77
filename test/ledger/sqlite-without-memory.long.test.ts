/** The contract of every ledger, on a SQLite ledger whose caches hold one entry. Each answer comes from the
 * file. */

import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { BesideSqlite } from "./beside.ts";
import { allParts, ledgerContract } from "./contract.ts";
import { maxHeldEventBytes, maxWaitingLinks } from "./held-event-support.ts";

const fileIn = (folder: string) => join(folder, "ledger.sqlite");

ledgerContract(
  "SQLite that keeps nothing in memory",
  (folder, options) =>
    openSqliteLedger({
      features,
      file: fileIn(folder),
      knownUsersCapacity: 1,
      messageIdsPerRun: 1,
      maxHeldEventBytes,
      maxWaitingLinks,
      ...options,
    }),
  async (folder) => new BesideSqlite(fileIn(folder)),
  allParts,
);
