/** Alerts: what rules found, and what team members did about it. */
import type {
  AlertArm,
  AlertClosing,
  AlertReason,
  AlertState,
  AlertVerdict,
  WorkOutcome,
} from "../../../../contract/alerts/rules.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { SenderName } from "../../../../contract/sources.ts";
import type { AuditNote } from "../../../ledger/audit.ts";
import {
  type EntityNumbers,
  type EntityRef,
  type NamedEntity,
  type NamedPerson,
  numberOf,
  type RuleEntity,
} from "../../../ledger/stores/entity-rows.ts";

/** The entity of an alert. */
export type AlertedEntity = NamedEntity | { readonly kind: "source"; readonly source: SenderName };

export interface Alert {
  readonly id: number;
  readonly rule: { readonly id: number; readonly name: string };
  readonly version: number;
  readonly entity: AlertedEntity;
  /** The day that the alert is about. */
  readonly firedDay: number;
  readonly firedAtMs: number;
  readonly eventId: string | null;
  readonly before: number | null;
  readonly after: number | null;
  readonly reasons: readonly AlertReason[];
  readonly risk: number | null;
  /** In minor units of the organization's currency. */
  readonly expectedLoss: number | null;
  readonly arm: AlertArm | null;
  /** Of a control: the last day on which it was not named. */
  readonly controlUntil: number | null;
  readonly isSent: boolean;
  readonly closedDay: number | null;
  readonly closedWhy: AlertClosing | null;
  readonly assignee: NamedPerson | null;
  /** The first day on which it is open again. */
  readonly snoozedUntil: number | null;
  readonly verdict: AlertVerdict | null;
  /** Of a handled alert. */
  readonly outcome: WorkOutcome | null;
  readonly verdictBy: NamedPerson | null;
  readonly verdictAtMs: number | null;
  readonly note: string | null;
}

/** Which alerts are asked for. */
export interface AlertFilter {
  readonly state: AlertState;
  /** Today in the organization's timezone. */
  readonly today: number;
  readonly rule?: number | undefined;
  readonly entity?: EntityRef | undefined;
  /** A person's id, or null for alerts of nobody. */
  readonly assignee?: number | null | undefined;
}

export interface AlertQuestion extends AlertFilter {
  readonly limit: number;
  readonly offset: number;
}

/** An alert by its id, with the number of its user or account and the values that lists are sorted by. */
export interface AlertWeight extends EntityNumbers, Pick<Alert, "id" | "expectedLoss" | "risk"> {
  /** The id of the rule. */
  readonly ofRule: number;
}

/** Compares alerts as lists have them: the highest expected loss first, then the highest risk, then the
 * newest. Alerts without a value are behind all others. */
export function compareWeights(a: AlertWeight, b: AlertWeight): number {
  return highestFirst(a.expectedLoss, b.expectedLoss) || highestFirst(a.risk, b.risk) || b.id - a.id;
}

function highestFirst(a: number | null, b: number | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return b - a;
}

/** What team members did about an alert of a user or an account, or about a row of the call list: a verdict,
 * or else a snooze. */
export interface WorkOnCall extends EntityNumbers, Pick<Alert, "verdictAtMs" | "snoozedUntil"> {}

/** A row of the call list is snoozed, judged, or with null put back. The note goes with a verdict. */
export type CallChange = Pick<AlertChange, "snoozedUntil" | "verdict" | "outcome" | "note">;

export type AlertChange = Partial<{
  /** The person's id. */
  readonly assignee: number | null;
  readonly snoozedUntil: number | null;
  readonly verdict: AlertVerdict | null;
  readonly outcome: WorkOutcome | null;
  readonly note: string | null;
}>;

/** The words of a change: what came of the work says that it is handled, and only of handled work something
 * came.
 * @throws Refusal when an outcome comes with another verdict */
export function wordsOf({ verdict, outcome }: AlertChange, before: Pick<Alert, "verdict" | "outcome">) {
  if (outcome != null && verdict !== undefined && verdict !== "handled")
    throw new Refusal("outcome and verdict are not valid together: an outcome is of handled work.");
  const said = outcome != null ? "handled" : verdict === undefined ? before.verdict : verdict;
  const known = outcome === undefined ? before.outcome : outcome;
  return { verdict: said, outcome: said === "handled" ? known : null };
}

/** An alert that was open at a time, as Results says why somebody was called. */
export interface OpenSpan extends EntityNumbers {
  readonly rule: { readonly id: number; readonly name: string };
  readonly firedAtMs: number;
  /** Null while it is open. */
  readonly closedAtMs: number | null;
}

/** The alerts of days, as figures about them need them. */
export interface FiredQuestion {
  readonly fromDay: number;
  readonly toDay: number;
  /** Today in the organization's timezone. */
  readonly today: number;
  readonly rule?: number;
  /** The newest so many. */
  readonly limit: number;
}

/** An alert that fired, as figures need it. */
export interface FiredRecord extends Pick<Alert, "firedDay" | "closedWhy" | "verdict" | "verdictAtMs"> {
  readonly rule: number;
  readonly entity: RuleEntity;
  /** When a task about its user or account was added first since it fired. Null without one. */
  readonly taskAtMs: number | null;
}

/** A user or an account that is not to be worked on yet, because it is a control of a hold-out. */
export interface Control {
  readonly kind: "user" | "account";
  readonly number: number;
  /** The last day on which it is one. */
  readonly untilDay: number;
}

/** The entry of a row of the call list that was set aside or put back. @param fields the names of those that
 * changed */
export function callNote(entity: EntityNumbers, fields: readonly string[]): AuditNote {
  return {
    action: "call.set_aside",
    summary: `Changed ${fields.join(", ")} of a call to ${entity.user > 0 ? "a user" : "an account"}`,
    detail: { ...numberOf(entity), fields: [...fields] },
  };
}

/** The entry of a changed alert. The note is not in the log: it may name a person. */
export function alertNote(id: number, entity: EntityNumbers, fields: readonly string[]): AuditNote {
  const whose = entity.user > 0 ? "a user" : entity.account > 0 ? "an account" : "a source";
  return {
    action: "alert.changed",
    summary: `Changed ${fields.join(", ")} of an alert about ${whose}`,
    detail: { alert: id, ...(entity.user + entity.account > 0 && numberOf(entity)), fields: [...fields] },
  };
}
