/** The module's interface: the ledger's interfaces (`ports/`) and the rules that both engines share
 * (`rules/`). */

export {
  type Alert,
  type AlertChange,
  type AlertQuestion,
  type AlertWeight,
  compareWeights,
  type FiredRecord,
  type WorkOnCall,
} from "./ports/actions/alerts.ts";
export type {
  ClaimedDelivery,
  Delivery,
  OutgoingMessage,
  TriedDelivery,
} from "./ports/actions/deliveries.ts";
export {
  type DestinationChange,
  type DestinationWithCounts,
  notAgreed,
} from "./ports/actions/destinations.ts";
export type { HoldOutExperiment, KnownArms } from "./ports/actions/hold-outs.ts";
export type { IdentityData, PersonDelivery } from "./ports/actions/person-data.ts";
export { keyOfEntity, type RuleEntity } from "./ports/actions/rule-entities.ts";
export type { AlertRule } from "./ports/actions/rule-settings.ts";
export {
  type AlertsOfCap,
  type ClosedAlert,
  chunkAlerts,
  type DecisionChunk,
  type DecisionMessage,
  type DrawnAlert,
  type EntityStateRow,
  type FiredAlert,
  type GatheredAlerts,
  keyOfOpenAlert,
  type OpenMoment,
  type RuleDecisions,
  type RuleToDecide,
  type RuleVersion,
  type UnsentAlert,
  type Watermark,
} from "./ports/actions/rules.ts";
export { runText } from "./ports/actions/run-messages.ts";
export type { Segment, SegmentContent } from "./ports/actions/segments.ts";
export {
  churnReasonNote,
  contactNote,
  type EntitiesByNumber,
  type EntityInMessages,
  type EntityNumbers,
  type EntityRef,
  type NamedEntity,
  type NamedPerson,
  type Note,
  ownerNote,
  type Task,
  type TaskFilter,
} from "./ports/actions/work.ts";
export {
  comparePositions,
  type WorkEntry,
  type WorkPosition,
  workPosition,
} from "./ports/actions/work-timeline.ts";
export {
  type Actor,
  type AuditNote,
  type AuditPage,
  commandLine,
  personActor,
  readKeyActor,
  serviceItself,
  settingUp,
} from "./ports/audit.ts";
export {
  type Credential,
  type Credentials,
  createProjectToken,
  createReadKey,
  hashSecret,
  type Right,
  type RightOfTokens,
  type SecretPrefix,
  scopeOf,
  secretPrefix,
  secretsIn,
} from "./ports/credentials.ts";
export type { Account, FieldTimestamps, User, UserAndAccount } from "./ports/entities.ts";
export {
  type AccountReceipt,
  type AskedErasure,
  accountReceiptOf,
  type CountedErasure,
  type ErasedAccounts,
  type Erasure,
  type ErasureReceipt,
  type Erasures,
  type FoundInWarehouse,
  type FoundOfAccount,
  personExportedNote,
  receiptOf,
} from "./ports/erasures.ts";
export {
  checkedRule,
  type ExclusionRule,
  type ExclusionRules,
  type StoredExclusionRule,
} from "./ports/exclusions.ts";
export type { CheckResult, Populations } from "./ports/health.ts";
export {
  addressId,
  addressIn,
  type EventLabel,
  type HeldEvent,
  type HeldEventWrites,
  isAddressId,
  type PersonId,
  type PersonKey,
  type PersonLink,
  userKey,
  visitorKey,
} from "./ports/held-events.ts";
export type { ImportRecord, RejectedRow } from "./ports/imports.ts";
export type {
  DayCount,
  FrozenBatch,
  Inbox,
  InboxRows,
  RejectedEvent,
  WarehouseTable,
} from "./ports/inbox.ts";
export type { Ledger, LedgerSnapshot, SharedLedger } from "./ports/ledger.ts";
export {
  hashCode,
  type Link,
  type LinkKind,
  loginEmail,
  type MemberStore,
  newCode,
  type Person,
  type Session,
  withFallbackEmail,
} from "./ports/members.ts";
export type { LiveNode, NodeRole } from "./ports/nodes.ts";
export { itemsPerSecond, type Organization } from "./ports/organizations.ts";
export type {
  MissingRows,
  NumberedVersion,
  RejectedEventSelection,
  VersionRows,
} from "./ports/rejected-events.ts";
export {
  currentSettings,
  type SettingDifference,
  type SettingsVersion,
  type StoredSettings,
  settingDifferences,
  settingsAfter,
} from "./ports/settings.ts";
export {
  type StripeSettings,
  verifiedMapping,
  type Webhook,
  type WebhookChange,
  type WebhookSettings,
} from "./ports/source-settings.ts";
export type { CountedHour, SourceHour, SourceStore, SourceTotals } from "./ports/sources.ts";
export {
  type KnownUser,
  type Message,
  type MessageKey,
  type Needs,
  OrganizationGone,
  OrganizationsHeld,
  type Stored,
  type Writes,
} from "./ports/transact.ts";
export type { View } from "./ports/views.ts";
export {
  type IngestionWarning,
  UnwritableWarnings,
  type WarningKind,
  type WarningStore,
} from "./ports/warnings.ts";
export { emailKey } from "./rules/email-key.ts";
export { failedByContent } from "./rules/failed-by-content.ts";
export {
  countConditions,
  maxActiveDays,
  mayNameUser,
  refuseInvalidFilter,
  segmentsWith,
  segmentWithThoseBelow,
  tooManyConditions,
} from "./rules/segment-rules.ts";
export {
  accountRow,
  accountVersionRow,
  columns,
  currentSchema,
  eventRow,
  isCanonicalUuid,
  userRow,
  userVersionRow,
} from "./rules/warehouse-rows.ts";
