/** The module's interface. */

export {
  type Analysis,
  type AnalysisService,
  type AnalysisStatus,
  beginAnalysis,
  type Failure,
  type Freshness,
  openAnalysis,
  type ServedAnalysis,
  takeAnalysisLock,
} from "./analysis.ts";
export type { BackupRequest, BackupSummary } from "./copies/backup.ts";
export {
  type BackupProgress,
  eventsIn,
  extractBackupFile,
  type Manifest,
  type ReportProgress,
  readManifest,
  verifyBackupFiles,
} from "./copies/backup-files.ts";
export { type ExportFormat, exportFormats } from "./copies/export.ts";
export { finishMove, moveTables, refuseFilledTables } from "./copies/move-tables.ts";
export { refuseUnknownTables, restoreWarehouse } from "./copies/restore.ts";
export { type ExportName, exportNames } from "./copies/work-export.ts";
export { openChdbWarehouse } from "./engine/chdb.ts";
export { connectClickHouse, openClickHouseWarehouse } from "./engine/clickhouse.ts";
export { MissingTables } from "./engine/clickhouse-prepare.ts";
export { probeClickHouse } from "./engine/probe.ts";
export type { ServerWarehouse } from "./engine/server-warehouse.ts";
export { sessionOpener } from "./engine/sessions.ts";
export { type UnavailableReason, unavailableReasonOf, unavailableReasons } from "./engine/unavailable.ts";
export {
  askedBy,
  type Parameter,
  type Warehouse,
  WarehouseError,
} from "./engine/warehouse.ts";
export { FollowingAnalysis, nothingLoaded, whileLeading } from "./following-analysis.ts";
export {
  isMatched,
  matchedColumns,
  ruleMatches,
  ruleOrder,
  ruleParameters,
  ruleSettings,
} from "./load/exclusions.ts";
export type { LoaderStatus } from "./load/loader.ts";
export { accountOwners } from "./schema/account-owners.ts";
export { isBilling, tieBreak } from "./schema/billing-tables.ts";
export { currenciesUsed, reportingCurrencyOf } from "./schema/currencies-used.ts";
export {
  activeDaysTable,
  activeMembersTable,
  activeSpans,
  activeSpansOf,
  appliedSettings,
  engagementParameters,
  eventNamesOf,
  firstActiveDays,
  isEngagement,
  type PassiveEvents,
} from "./schema/engagement.ts";
export {
  accountsLeftOut,
  included,
  isAnyAccount,
  isExcluded,
  isIncluded,
  isIncludedAccount,
  isIncludedPayerOf,
  withinAccounts,
  withinPayers,
  withinUsers,
} from "./schema/included.ts";
export { refuseOtherLedger } from "./schema/ledger-identity.ts";
export { segmentChanges } from "./schema/segment-tables.ts";
export { warehouseSize } from "./schema/size.ts";
export { countsAsActivity } from "./schema/tables.ts";
export { acknowledgedOf, checkOrganization, describeDifference } from "./upkeep/check.ts";
export { dayParameter } from "./upkeep/keep-events.ts";
export { computeSubscriptions } from "./upkeep/subscriptions.ts";
export { isKept } from "./upkeep/thin-scores.ts";
