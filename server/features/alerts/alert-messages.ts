/** The messages of alerts, with ids and names of users and accounts, and e-mail addresses where a destination
 * asks for them. Pure. */
import { createHash } from "node:crypto";
import { type AlertReason, ruleLimits } from "../../../contract/alerts/rules.ts";
import { destinationLimits } from "../../../contract/destinations/destinations.ts";
import { senderTitles } from "../../../contract/digest/sender-titles.ts";
import { formatDay } from "../../calendar/days.ts";
import type { OutgoingMessage } from "../../ledger/ports/actions/deliveries.ts";
import { keyOfEntity, type RuleEntity } from "../../ledger/ports/actions/rule-entities.ts";
import {
  type ClosedAlert,
  keyOfOpenAlert,
  type RuleVersion,
  type UnsentAlert,
} from "../../ledger/ports/actions/rules.ts";
import { runText } from "../../ledger/ports/actions/run-messages.ts";
import type { EntityInMessages } from "../../ledger/stores/entity-rows.ts";
import type { MessageBody, MessageRow } from "../../sending/message-body.ts";
import { cutText } from "../../sending/message-text.ts";
import { worthWords } from "../../sending/worth-words.ts";
import type { EntityWorth } from "./rules/worth.ts";

type AlertMessageType = "alert.fired" | "alert.resolved";

/** The parts that all messages of a run share. */
export interface MessageGround {
  readonly version: Pick<RuleVersion, "rule" | "version" | "name">;
  readonly names: Readonly<Record<string, EntityInMessages>>;
  /** What users and accounts are worth, by key: for messages to Slack and by e-mail. */
  readonly worth?: ReadonlyMap<string, EntityWorth>;
  /** Whether the message has e-mail addresses of users. */
  readonly hasEmails: boolean;
  /** The address of the pages: `https://rekindle.example.com/o/3`. */
  readonly pages: string;
  readonly nowMs: number;
}

/** An alert that a message is about: it fired, or it closed. */
export type AlertEvent =
  | { readonly type: "alert.fired"; readonly alert: UnsentAlert }
  | { readonly type: "alert.resolved"; readonly alert: ClosedAlert };

/** The message of one alert, for a webhook. */
export function alertMessage(ground: MessageGround, event: AlertEvent): OutgoingMessage {
  const { version, pages } = ground;
  const { entity, ...values } = dataOf(ground, event);
  const name = nameOf(ground, event.alert.entity);
  const text = `${version.name}: ${name}${event.type === "alert.fired" ? ":" : ""} ${sentenceOf(event)}`;
  return message(ground, event.type, keyOf(version, event), {
    text,
    rule: { id: version.rule, name: version.name, version: version.version },
    entity,
    ...values,
    link: linkOf(ground, event.alert.entity) ?? `${pages}/overview`,
  });
}

/** The alerts of a message to Slack and e-mail. */
export interface AlertGroup {
  /** The most important first. */
  readonly sent: readonly UnsentAlert[];
  /** The number of alerts that fired, with those that the cap leaves out. */
  readonly total: number;
  /** When the message is due that gathers the moments of a rule; undefined for the message of a run. */
  readonly gatheredUntilMs?: number | undefined;
}

/** One message about several alerts, for Slack and e-mail. @returns undefined when nothing is sent */
export function runMessage(
  ground: MessageGround,
  { sent, total, gatheredUntilMs }: AlertGroup,
): OutgoingMessage | undefined {
  if (sent.length === 0) return undefined;
  const { version, pages } = ground;
  const type = "alert.fired";
  const events = sent.map((alert) => ({ type, alert }) as const);
  const rows = rowsThatFit(
    events.slice(0, ruleLimits.messageRows).map((one): MessageRow => {
      const { entity } = one.alert;
      const link = linkOf(ground, entity) ?? `${pages}/overview`;
      return { name: rowName(ground, entity), text: lineOf(ground, one), link, of: keyOfEntity(entity) };
    }),
  );
  const key =
    gatheredUntilMs === undefined
      ? events.map((one) => keyOf(version, one))
      : gatheredKey(version, gatheredUntilMs);
  return message(ground, type, key, {
    text: runText(version.name, total, rows.length),
    rule: { id: version.rule, name: version.name },
    total,
    rows,
    link: `${pages}/alerts?rule=${version.rule}`,
  });
}

/** The id of the message that gathers the moments of a rule. */
export function gatheredMessageId(version: Pick<RuleVersion, "rule">, dueAtMs: number): string {
  return messageIdOf("alert.fired", gatheredKey(version, dueAtMs));
}

function gatheredKey({ rule }: Pick<RuleVersion, "rule">, dueAtMs: number): readonly unknown[] {
  return ["gathered", rule, dueAtMs];
}

/** The first rows, as far as a body has room for them. */
function rowsThatFit(rows: readonly MessageRow[]): readonly MessageRow[] {
  let bytes = 0;
  return rows.filter((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    return bytes <= destinationLimits.bodyBytes - headBytes;
  });
}

/** The bytes of a body without its rows, at most. */
const headBytes = 4_000;

/** The entities that a run's message may name. */
export function entitiesIn(sent: readonly UnsentAlert[]): readonly RuleEntity[] {
  return sent.slice(0, ruleLimits.messageRows).map(({ entity }) => entity);
}

/** What identifies an alert in a message id: rule, version, entity, and the day or the event. */
function keyOf({ rule, version }: MessageGround["version"], { type, alert }: AlertEvent): readonly unknown[] {
  const day = type === "alert.fired" ? (alert.eventId ?? alert.day) : [alert.firedOn, alert.day];
  const key = type === "alert.fired" ? keyOfEntity(alert.entity) : keyOfOpenAlert(alert);
  return [rule, version, key, day];
}

function message(
  { nowMs }: MessageGround,
  type: AlertMessageType,
  key: readonly unknown[],
  data: MessageBody["data"],
): OutgoingMessage {
  const timestamp = new Date(nowMs).toISOString();
  const body = JSON.stringify({ type, timestamp, data } satisfies MessageBody);
  if (Buffer.byteLength(body) > destinationLimits.bodyBytes) throw new Error("The message is too long.");
  return { messageId: messageIdOf(type, key), type, body };
}

function messageIdOf(type: AlertMessageType, key: readonly unknown[]): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([type, ...key]))
    .digest("hex");
  return `msg_${hash.slice(0, 32)}`;
}

function dataOf({ names, hasEmails }: MessageGround, { type, alert }: AlertEvent) {
  const named = names[keyOfEntity(alert.entity)];
  const entity =
    alert.entity.kind === "source"
      ? alert.entity
      : {
          kind: alert.entity.kind,
          id: named?.id ?? null,
          name: cut(named?.label ?? ""),
          ...(hasEmails && alert.entity.kind === "user" && { email: named?.email ?? null }),
        };
  if (type === "alert.resolved") {
    return { entity, firedDay: formatDay(alert.firedOn), day: formatDay(alert.day), why: alert.why };
  }
  const { before, after, risk, expectedLoss } = alert;
  const reasons = alert.reasons.map(({ text }) => cut(text));
  return { entity, day: formatDay(alert.day), before, after, risk, expectedLoss, reasons };
}

function sentenceOf({ type, alert }: AlertEvent): string {
  if (type === "alert.resolved") {
    return alert.why === "resolved" ? "is no longer in this state." : `closed: ${alert.why}.`;
  }
  return cutText(reasonText(alert.reasons), sentenceCharacters);
}

/** Why, and what it is worth: "Silent for 9 days. 438 USD a month, Team, owner Olga". */
function lineOf({ worth }: MessageGround, event: AlertEvent): string {
  const known = worth?.get(keyOfEntity(event.alert.entity));
  if (known === undefined) return sentenceOf(event);
  const { mrr, plan, owner, currency } = known;
  const words = cut(worthWords({ mrr, plan, owner: owner?.name ?? null }, currency));
  return [sentenceOf(event), words].filter((part) => part !== "").join(". ");
}

function reasonText(reasons: readonly AlertReason[]): string {
  const text = reasons.map((reason) => cut(reason.text)).join("; ");
  return text === "" ? "needs attention" : text;
}

function nameOf({ names }: MessageGround, entity: RuleEntity): string {
  if (entity.kind === "source") return senderTitles[entity.source];
  return cut(names[keyOfEntity(entity)]?.label ?? `${entity.kind} ${entity.number}`);
}

/** A name in a list, with the e-mail address where it is asked for. */
function rowName(ground: MessageGround, entity: RuleEntity): string {
  const name = nameOf(ground, entity);
  const email = ground.hasEmails ? ground.names[keyOfEntity(entity)]?.email : null;
  return email == null ? name : cut(`${name} (${email})`);
}

function linkOf({ names, pages }: MessageGround, entity: RuleEntity): string | undefined {
  if (entity.kind === "source") return `${pages}/sources`;
  const named = names[keyOfEntity(entity)];
  return named && `${pages}/${entity.kind}s/${encodeURIComponent(named.id)}`;
}

/** Bodies stay below their limit, whatever texts are in them. */
const textCharacters = 200;
const sentenceCharacters = 500;

function cut(text: string): string {
  return cutText(text, textCharacters);
}
