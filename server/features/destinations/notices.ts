/** Messages about a whole organization: which ones a destination gets, by what is known now. Pure. They name
 * no user and no account. */

import { createHash } from "node:crypto";
import type { RiskModel } from "../../../contract/api/model-names.ts";
import { counted } from "../../../contract/counted.ts";
import type { MessageType, NoticeType } from "../../../contract/destinations/destinations.ts";
import { senderTitles } from "../../../contract/digest/sender-titles.ts";
import type { SenderName } from "../../../contract/sources.ts";
import { formatDay } from "../../calendar/days.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Delivery, OutgoingMessage } from "../../sending/deliveries.ts";
import type { DestinationWithCounts } from "../../sending/destinations.ts";
import type { MessageBody } from "../../sending/message-body.ts";

/** The scores of a day, by its newest run. */
export interface CompletedScores {
  readonly day: number;
  readonly finishedAtMs: number;
  readonly kinds: readonly KindScores[];
}

export interface KindScores {
  readonly kind: EntityKind;
  readonly scored: number;
  /** Null where no model gives a churn risk. */
  readonly highRisk: number | null;
  /** The model that serves since this day; null when the model did not change. */
  readonly newModel: { readonly from: RiskModel | null; readonly to: RiskModel | null } | null;
}

/** A source that has sent. */
export interface WatchedSource {
  readonly source: SenderName;
  readonly state: "sending" | "silent" | "retired";
  readonly lastHeardMs: number | null;
  readonly silentFromMs: number | null;
}

/** The present state of an organization. */
export interface OrganizationNow {
  readonly id: number;
  readonly name: string;
  /** The scores of today, or of yesterday before the first scores of today; null without both. */
  readonly scores: CompletedScores | null;
  readonly sources: readonly WatchedSource[];
}

type Asking = Pick<DestinationWithCounts, "createdAtMs" | "notices">;

/**
 * The messages that a destination gets. The id of a message follows from its content, so that adding it again
 * changes nothing. States from before the destination was made are no message. A destination that asks for
 * silences also gets their ends.
 * @param sent the messages that the destination had before
 * @param address of the service, as people reach it
 */
export function noticesFor(
  { createdAtMs, notices }: Asking,
  now: OrganizationNow,
  sent: readonly Pick<Delivery, "type" | "body">[],
  address: string,
  nowMs: number,
): OutgoingMessage[] {
  const pages = `${address}/o/${now.id}`;
  const say = (type: Notice, key: readonly unknown[], page: string, data: Facts) =>
    notices.includes(type === "source.resumed" ? "source.silent" : type)
      ? [message(type, [now.id, ...key], `${pages}/${page}`, data, nowMs)]
      : [];
  const ofScores =
    now.scores === null || now.scores.finishedAtMs <= createdAtMs
      ? []
      : [
          ...say("scores.completed", [now.scores.day], "overview", scoresText(now.name, now.scores)),
          ...now.scores.kinds.flatMap((kind) => {
            const facts = modelText(now.name, kind);
            if (facts === null) return [];
            return say("model.changed", [kind.kind, now.scores?.day, facts.to], "model", facts);
          }),
        ];
  const silent = now.sources.flatMap(({ source, state, lastHeardMs, silentFromMs }) => {
    if (state !== "silent" || lastHeardMs === null || (silentFromMs ?? 0) <= createdAtMs) return [];
    const since = new Date(lastHeardMs).toISOString();
    const text = `${now.name}: ${silenceSentence(source, since)}`;
    return say("source.silent", [source, since], "sources", { text, source, since });
  });
  const sending = new Set(now.sources.flatMap(({ source, state }) => (state === "sending" ? [source] : [])));
  const resumed = silencesTold(sent).flatMap(({ source, since }) => {
    if (!sending.has(source)) return [];
    const text = `${now.name}: ${hasSent(source)} data again, for the first time since ${utcText(since)}.`;
    return say("source.resumed", [source, since], "sources", { text, source, since });
  });
  return [...ofScores, ...silent, ...resumed];
}

/** Digests have code of their own. */
type Notice = Exclude<NoticeType, `digest.${string}`> | "source.resumed";

/** A silent source as a sentence. @param since RFC 3339 */
export function silenceSentence(source: SenderName, since: string): string {
  return `${hasSent(source)} no data since ${utcText(since)}.`;
}

/** The beginning of a sentence about a source. */
function hasSent(source: SenderName): string {
  return `${senderTitles[source]} ${source === "webhook" ? "have" : "has"} sent`;
}

const utcFormat = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium" as const,
  timeStyle: "short" as const,
  timeZone: "UTC",
});

/** `26 Nov 2026, 07:00 UTC` */
function utcText(instant: string): string {
  return `${utcFormat.format(new Date(instant))} UTC`;
}

interface Facts {
  readonly text: string;
  readonly [fact: string]: string | number | null | object;
}

function message(type: MessageType, key: readonly unknown[], link: string, facts: Facts, nowMs: number) {
  const body: MessageBody = { type, timestamp: new Date(nowMs).toISOString(), data: { ...facts, link } };
  const hash = createHash("sha256")
    .update(JSON.stringify([type, ...key]))
    .digest("hex");
  return { messageId: `msg_${hash.slice(0, 32)}`, type, body: JSON.stringify(body) };
}

function scoresText(name: string, { day, kinds }: CompletedScores): Facts {
  const counts = kinds.flatMap(({ kind, highRisk }) => (highRisk === null ? [] : [counted(highRisk, kind)]));
  const risk = counts.length === 0 ? "No churn risk is known." : `At high risk: ${counts.join(", ")}.`;
  return {
    text: `${name}: the scores of ${formatDay(day)} are ready. ${risk}`,
    day: formatDay(day),
    scores: kinds.map(({ kind, scored, highRisk }) => ({ kind, scored, highRisk })),
  };
}

function modelText(name: string, { kind, newModel }: KindScores) {
  if (newModel === null) return null;
  const { from, to } = newModel;
  return { text: `${name}: ${modelSentences(kind, newModel)}`, kind, from, to };
}

/** Another model as two sentences. */
export function modelSentences(
  kind: EntityKind,
  { from, to }: { readonly from: RiskModel | null; readonly to: RiskModel | null },
): string {
  const now =
    to === null
      ? `No model gives churn risks of ${kind}s now.`
      : `Churn risks of ${kind}s now come from the model ${to}.`;
  const before = from === null ? "Before, no model gave any." : `Before, they came from the model ${from}.`;
  return `${now} ${before}`;
}

/** The silences that a destination had a message about. */
function silencesTold(
  sent: readonly Pick<Delivery, "type" | "body">[],
): { readonly source: SenderName; readonly since: string }[] {
  return sent.flatMap(({ type, body }) => {
    if (type !== "source.silent") return [];
    const { source, since } = (JSON.parse(body) as { data: { source: SenderName; since: string } }).data;
    return [{ source, since }];
  });
}
