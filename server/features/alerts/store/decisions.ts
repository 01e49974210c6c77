/**
 * Alert rules, as they are decided: once for each scored day, and once for each event of a moment. Analysis
 * computes a decision and asks for its commit in chunks. A rule's watermark says how far it is decided. Days
 * are whole days since 1970-01-01.
 */
import type {
  AlertArm,
  AlertClosing,
  AlertReason,
  AlertRuleSettings,
  RuleTime,
} from "../../../../contract/alerts/rules.ts";
import type { JsonObject } from "../../../../contract/json.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import { keyOfEntity, type RuleEntity } from "../../../ledger/stores/entity-rows.ts";
import type { AboutAlerts, OutgoingMessage } from "../../../sending/deliveries.ts";
import type { Alert } from "./alerts.ts";

/** The version of a rule that is decided. A change of condition or scope makes the next version. */
export interface RuleVersion extends Pick<AlertRuleSettings, "name" | "scope" | "condition" | "exemptions"> {
  readonly organization: number;
  readonly rule: number;
  /** From 1. */
  readonly version: number;
  /** Null: the churn horizon of the day. */
  readonly cooldownDays: number | null;
  readonly cap: number;
  readonly when: RuleTime;
  readonly destinations: readonly number[];
  readonly holdOutShare: number;
  /** Grows with a change of condition, scope or share, and with another churn horizon: then another
   * experiment begins, with draws of its own. */
  readonly experiment: number;
  readonly createdAtMs: number;
  /** When the rule was saved, changed or resumed last. */
  readonly updatedAtMs: number;
}

/** How far a rule is decided. */
export interface Watermark {
  /** Grows with each chunk, and with each change that ends a decision under way: a new version, a pause, a
   * resumption. */
  readonly sequence: number;
  readonly version: number;
  /** The last day that is decided for all entities. Null: none yet. */
  readonly decidedThrough: number | null;
  /** A day that is decided in part, in the order of the entities' numbers: up to this number, included. */
  readonly part: { readonly day: number; readonly uptoNumber: number } | null;
  /** Whether the next decided day is taken over without alerts (`adopted`): of a new version or a resumed
   * rule, or of a ledger that was restored or moved. With a moment, older events are passed over. */
  readonly takesOver: boolean;
  /** How far events of moments are read, or the rules that decided the last day. Only analysis writes and
   * reads it. */
  readonly cursor: JsonObject | null;
}

/** The state of an entity that a rule keeps: see `EntityState` of `features/alerts/rules/step.ts`. An entity
 * that left, has no open alert and does not rest has no row: its state decides as `unknownEntity` does. */
export interface EntityStateRow {
  readonly entity: RuleEntity;
  readonly hasLeft: boolean;
  readonly daysOut: number;
  readonly restsUntil: number | null;
  readonly firedOn: number | null;
  /** The value of the last decided day that the condition compares: risk, health, events. Null when there is
   * none. */
  readonly value: number | null;
}

/** An alert that fires. */
export interface FiredAlert {
  readonly entity: RuleEntity;
  readonly day: number;
  /** Of a moment: the id of its event, so that it fires once. */
  readonly eventId: string | null;
  /** The value of the last decided day, or of day − n for rises and falls, and that of the day. */
  readonly before: number | null;
  readonly after: number | null;
  /** The most important first, at most 5. */
  readonly reasons: readonly AlertReason[];
  /** 1 of a scheduled end. */
  readonly risk: number | null;
  /** Churn risk × MRR, in minor units of the organization's currency; of a scheduled end the MRR that ends.
   * Null without revenue. */
  readonly expectedLoss: number | null;
  /** The id of the team member who owns the user or the account. */
  readonly assignee?: number | null;
  /** The number of the account that is drawn for the hold-out: the account itself, or that of the user. Null
   * for a user without one, and for a source. */
  readonly account: number | null;
  /** Whether the exemptions leave it out before the draw. */
  readonly isExempt: boolean;
}

/** The open alert of an entity that closes. */
export interface ClosedAlert {
  readonly entity: RuleEntity;
  /** As in the entity's state. Of a moment, the alert's day. */
  readonly firedOn: number;
  /** Of a moment. */
  readonly eventId?: string;
  readonly day: number;
  readonly why: AlertClosing;
}

/** A part of a decision that is one commit. Analysis makes them. */
export interface DecisionChunk {
  readonly organization: number;
  readonly rule: number;
  readonly version: number;
  /** The sequence of the watermark that it follows. Another one is refused. */
  readonly after: number;
  /** The watermark afterwards. A chunk that ends a day has it as `decidedThrough`, and no `part`. */
  readonly next: Pick<Watermark, "decidedThrough" | "part" | "cursor">;
  /** The churn horizon, for the days on which a control is not named. */
  readonly horizonDays: number;
  /** States that changed. */
  readonly states: readonly EntityStateRow[];
  /** At most `chunkAlerts`. */
  readonly fired: readonly FiredAlert[];
  /** At most `chunkAlerts`. */
  readonly closed: readonly ClosedAlert[];
  /** Entities that are inside only by other settings or another model: counted for the digest. */
  readonly insideBySettings: number;
}

/** The most alerts that a chunk fires, and that it closes. A commit of 100 takes 4 ms, one of 10,000 354
 * ms. */
export const chunkAlerts = 100;

/** An alert with its draw. */
export interface DrawnAlert extends FiredAlert {
  /** Null: the rule has no hold-out, or the entity is a source. */
  readonly arm: AlertArm | null;
  /** Whether it was drawn in the experiment of the rule. A control of an earlier one is no entry of this
   * one. */
  readonly isEntry: boolean;
  /** The last day on which it is not named, of a control. */
  readonly controlUntil: number | null;
  /** Whether it was in a message, or the cap kept it out. */
  readonly isSent: boolean;
}

/** An alert of a rule, as a chunk names it: an alert that it adds has no id yet. */
export type AlertKey = Required<Pick<ClosedAlert, "entity" | "firedOn" | "eventId">>;

/** A message of a decision, committed with it. */
export interface DecisionMessage extends Pick<AboutAlerts, "total" | "cap"> {
  readonly destination: number;
  readonly message: Omit<OutgoingMessage, "body">;
  readonly dueAtMs: number;
  readonly alerts: readonly AlertKey[];
  /** Whether its alerts join the message with its id. If that one has a body already, they have a message of
   * their own. */
  readonly isGathered: boolean;
}

/** An alert of a message that is rendered. */
export interface MessageAlert
  extends UnsentAlert,
    Pick<Alert, "id" | "version" | "closedDay" | "closedWhy"> {}

/** What messages of a rule may name. */
export interface AlertsInMessages {
  readonly rule: Alert["rule"];
  readonly alerts: readonly MessageAlert[];
}

/** An alert of a moment that is not closed. */
export interface OpenMoment extends AlertKey {
  /** The alert's. */
  readonly id: number;
}

/** The alerts that a cap counts together: those about a day, or the moments that fired since an instant,
 * whatever the days of their events. */
export type AlertsOfCap = { readonly day: number } | { readonly sinceMs: number };

/** An alert that was in no message yet. */
export type UnsentAlert = Omit<FiredAlert, "account" | "isExempt">;

/** A chunk after the draw, with its messages. `actions/` makes it of a chunk. */
export interface DrawnChunk extends Omit<DecisionChunk, "fired"> {
  readonly fired: readonly DrawnAlert[];
  /** Alerts of earlier chunks that are in its messages. */
  readonly earlier: readonly UnsentAlert[];
  readonly messages: readonly DecisionMessage[];
}

/** A rule with all that its next decision needs. */
export interface RuleToDecide {
  readonly version: RuleVersion;
  readonly watermark: Watermark;
}

/** An alert that was in no message yet, as a chunk names it. */
export function keyOfAlert({ entity, day, eventId }: UnsentAlert): AlertKey {
  return { entity, firedOn: day, eventId: eventId ?? "" };
}

/** A key of an open alert. Of a condition that holds on days, an entity has one at most. */
export function keyOfOpenAlert({ entity, eventId = "" }: Pick<ClosedAlert, "entity" | "eventId">): string {
  return eventId === "" ? keyOfEntity(entity) : `${keyOfEntity(entity)} ${eventId}`;
}

/** The error when a chunk does not follow the watermark. */
export function chunkRefused(): Refusal {
  return new Refusal("The rule was decided or changed meanwhile: read its watermark again.");
}
