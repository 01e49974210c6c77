/** The interface of the embedded ledger. */

export { ledgerFile } from "./engine/ledger-file.ts";
export { ledgerMigrations } from "./engine/migrations.ts";
export { MovingOut, type StoredRow, type StoredValue } from "./engine/moving-out.ts";
export { openSqliteLedger, type SqliteLedgerOptions } from "./engine/open.ts";
export {
  beginRestore,
  finishRestore,
  refuseInstallation,
  refuseUnfinishedRestore,
  undoRestore,
} from "./engine/restoring.ts";
export { ledgerTrouble } from "./engine/trouble.ts";
export { openInboxReader } from "./inbox/inbox-reader.ts";
