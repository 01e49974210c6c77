import { join } from "node:path";

/** Where the ledger lies in a data folder. */
export function ledgerFile(dataDir: string): string {
  return join(dataDir, "ledger.sqlite");
}
