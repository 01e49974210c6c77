import { join } from "node:path";

/** The path of the ledger in a data folder. */
export function ledgerFile(dataDir: string): string {
  return join(dataDir, "ledger.sqlite");
}
