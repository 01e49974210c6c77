/** Names that the API has changed since rows were stored under the older ones. The rows stay as they are. */
import type { warningKinds } from "../../../contract/api/api.ts";
import type { AuditAction } from "../../../contract/audit.ts";
import type { SourceOutcome } from "../../../contract/sources.ts";

type Stored<Kind> = Kind extends `held_${infer Why}` ? `parked_${Why}` : Kind;
type ApiWarningKind = (typeof warningKinds)[number];

/** Warnings about held items are stored as `parked_…`. */
export type StoredWarningKind = Stored<ApiWarningKind>;

/** Held items are counted as `parked`. */
export type StoredOutcome = Exclude<SourceOutcome, "held"> | "parked";

/** Entries of the audit log from before rejected events had their name. */
export type StoredAuditAction = AuditAction | "dead_letters.retried" | "dead_letters.dropped";

/** The kind under which warnings of the API's kind are stored. */
export function storedWarningKind(kind: ApiWarningKind): StoredWarningKind {
  switch (kind) {
    case "held_full":
      return "parked_full";
    case "held_expired":
      return "parked_expired";
    case "held_refused":
      return "parked_refused";
    default:
      return kind;
  }
}

/** The API's name of a stored kind. */
export function warningKindOf(stored: StoredWarningKind): ApiWarningKind {
  switch (stored) {
    case "parked_full":
      return "held_full";
    case "parked_expired":
      return "held_expired";
    case "parked_refused":
      return "held_refused";
    default:
      return stored;
  }
}

/** The name under which an outcome is counted. */
export function storedOutcome(outcome: SourceOutcome): StoredOutcome {
  return outcome === "held" ? "parked" : outcome;
}

/** The API's name of what an entry of the audit log is about. */
export function auditActionOf(stored: StoredAuditAction): AuditAction {
  switch (stored) {
    case "dead_letters.retried":
      return "rejected_events.retried";
    case "dead_letters.dropped":
      return "rejected_events.dropped";
    default:
      return stored;
  }
}
