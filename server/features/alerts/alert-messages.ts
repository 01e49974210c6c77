/** The messages of alerts, with ids and names of users and accounts, and e-mail addresses where a destination
 * asks for them. Pure. */
import { createHash } from "node:crypto";
import type { AlertReason } from "../../../contract/alerts/rules.ts";
import { counted } from "../../../contract/counted.ts";
import { destinationLimits } from "../../../contract/destinations/destinations.ts";
import { senderTitles } from "../../../contract/digest/sender-titles.ts";
import { formatDay } from "../../calendar/days.ts";
import { type EntityInMessages, keyOfEntity, type RuleEntity } from "../../ledger/stores/entity-rows.ts";
import type { AlertMessageType } from "../../sending/deliveries.ts";
import type { MessageBody, MessageRow } from "../../sending/message-body.ts";
import { cutText } from "../../sending/message-text.ts";
import { worthWords } from "../../sending/worth-words.ts";
import type { EntityWorth } from "./rules/worth.ts";
import {
  type AlertsInMessages,
  type ClosedAlert,
  keyOfOpenAlert,
  type MessageAlert,
  type RuleVersion,
  type UnsentAlert,
} from "./store/decisions.ts";

/** What the message of a delivery needs besides its alerts. */
export interface MessageGround {
  readonly rule: AlertsInMessages["rule"];
  readonly names: Readonly<Record<string, EntityInMessages>>;
  /** What users and accounts are worth, by key: for messages to Slack and by e-mail. */
  readonly worth: ReadonlyMap<string, EntityWorth>;
  /** Whether the message has e-mail addresses of users. */
  readonly hasEmails: boolean;
  /** The address of the pages: `https://rekindle.example.com/o/3`. */
  readonly pages: string;
  /** When the message was decided. */
  readonly decidedAtMs: number;
  /** Of a later step: the days after which the alerts are still open. */
  readonly openForDays?: number | undefined;
}

/** The body of a message about one alert, which fired or closed: for a webhook. */
export function alertBody(ground: MessageGround, type: AlertMessageType, alert: MessageAlert): string {
  const { rule } = ground;
  const { entity, ...values } = dataOf(ground, type, alert);
  const name = nameOf(ground, alert.entity);
  const text = `${rule.name}: ${name}${type === "alert.fired" ? ":" : ""} ${sentenceOf(type, alert)}`;
  return bodyOf(ground, type, {
    text,
    rule: { id: rule.id, name: rule.name, version: alert.version },
    entity,
    ...values,
    ...(ground.openForDays !== undefined && { openForDays: ground.openForDays }),
    link: linkOf(ground, alert.entity) ?? `${ground.pages}/overview`,
  });
}

/** The body of one message about several alerts that fired, for Slack and e-mail.
 * @param alerts to name, the most important first
 * @param total the number of alerts that fired, with those that are not named */
export function runBody(ground: MessageGround, alerts: readonly MessageAlert[], total: number): string {
  const { rule, pages } = ground;
  const rows = rowsThatFit(
    alerts.map((alert): MessageRow => {
      const link = linkOf(ground, alert.entity) ?? `${pages}/overview`;
      return { name: rowName(ground, alert.entity), text: lineOf(ground, alert), link };
    }),
  );
  return bodyOf(ground, "alert.fired", {
    text: runText(rule.name, total, rows.length, ground.openForDays),
    rule: { id: rule.id, name: rule.name },
    total,
    rows,
    link: `${pages}/alerts?rule=${rule.id}`,
  });
}

function runText(rule: string, total: number, rows: number, openForDays: number | undefined): string {
  const left = total - rows;
  const stillOpen = `${total === 1 ? "is" : "are"} still open after ${counted(openForDays ?? 0, "day")}`;
  const fired = `${rule}: ${counted(total, "alert")} ${openForDays === undefined ? "fired" : stillOpen}.`;
  if (rows === 0) return `${fired} ${total === 1 ? "It is" : "All are"} in the inbox.`;
  const most = rows === 1 ? "The most important is" : `The ${rows} most important are`;
  const more = left > 0 ? ` ${most} below, ${left} more ${left === 1 ? "is" : "are"} in the inbox.` : "";
  return `${fired}${more}`;
}

/** Sorts by expected loss, then by risk, the highest first. Null comes last, because no value is negative. */
export function byImportance(a: UnsentAlert, b: UnsentAlert): number {
  return (b.expectedLoss ?? -1) - (a.expectedLoss ?? -1) || (b.risk ?? -1) - (a.risk ?? -1);
}

/** The id of the message of an alert that fired. */
export function firedMessageId(version: OfVersion, alert: UnsentAlert): string {
  return messageIdOf("alert.fired", keyOfFired(version, alert));
}

/** The id of the message of an alert that closed. */
export function endedMessageId({ rule, version }: OfVersion, alert: ClosedAlert): string {
  return messageIdOf("alert.resolved", [rule, version, keyOfOpenAlert(alert), [alert.firedOn, alert.day]]);
}

/** The id of the message of several alerts that fired. */
export function runMessageId(version: OfVersion, alerts: readonly UnsentAlert[]): string {
  return messageIdOf(
    "alert.fired",
    alerts.map((alert) => keyOfFired(version, alert)),
  );
}

/** The id of the message that gathers the moments of a rule. */
export function gatheredMessageId({ rule }: OfVersion, dueAtMs: number): string {
  return messageIdOf("alert.fired", ["gathered", rule, dueAtMs]);
}

type OfVersion = Pick<RuleVersion, "rule" | "version">;

/** What identifies an alert in a message id: rule, version, entity, and the day or the event. */
function keyOfFired({ rule, version }: OfVersion, alert: UnsentAlert): readonly unknown[] {
  return [rule, version, keyOfEntity(alert.entity), alert.eventId ?? alert.day];
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

function bodyOf({ decidedAtMs }: MessageGround, type: AlertMessageType, data: MessageBody["data"]): string {
  const timestamp = new Date(decidedAtMs).toISOString();
  const body = JSON.stringify({ type, timestamp, data } satisfies MessageBody);
  if (Buffer.byteLength(body) > destinationLimits.bodyBytes) throw new Error("The message is too long.");
  return body;
}

function messageIdOf(type: AlertMessageType, key: readonly unknown[]): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([type, ...key]))
    .digest("hex");
  return `msg_${hash.slice(0, 32)}`;
}

function dataOf({ names, hasEmails }: MessageGround, type: AlertMessageType, alert: MessageAlert) {
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
    const { day: firedOn, closedDay, closedWhy: why } = alert;
    return { entity, firedDay: formatDay(firedOn), day: formatDay(closedDay ?? firedOn), why };
  }
  const { before, after, risk, expectedLoss } = alert;
  const reasons = alert.reasons.map(({ text }) => cut(text));
  return { entity, day: formatDay(alert.day), before, after, risk, expectedLoss, reasons };
}

function sentenceOf(type: AlertMessageType, { closedWhy, reasons }: MessageAlert): string {
  if (type === "alert.resolved") {
    return closedWhy === "resolved" ? "is no longer in this state." : `closed: ${closedWhy}.`;
  }
  return cutText(reasonText(reasons), sentenceCharacters);
}

/** Why, and what it is worth: "Silent for 9 days. 438 USD a month, Team, owner Olga". */
function lineOf({ worth }: MessageGround, alert: MessageAlert): string {
  const sentence = sentenceOf("alert.fired", alert);
  const known = worth.get(keyOfEntity(alert.entity));
  if (known === undefined) return sentence;
  const { mrr, plan, owner, currency } = known;
  const words = cut(worthWords({ mrr, plan, owner: owner?.name ?? null }, currency));
  return [sentence, words].filter((part) => part !== "").join(". ");
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
