/** The digest as a message. It has ids and names of users and accounts, and no e-mail address. Pure. */

import { createHash } from "node:crypto";
import { type WorkOutcome, workOutcomes } from "../../../contract/alerts/rules.ts";
import { counted } from "../../../contract/counted.ts";
import { destinationLimits } from "../../../contract/destinations/destinations.ts";
import { formatDay } from "../../calendar/days.ts";
import type { OutgoingMessage } from "../../sending/deliveries.ts";
import type { MessageBody, MessageRow } from "../../sending/message-body.ts";
import { cutText } from "../../sending/message-text.ts";
import { amountText, worthWords } from "../../sending/worth-words.ts";
import { percentText } from "../alerts/rules/facts.ts";
import { silenceSentence } from "../destinations/notices.ts";
import type { Digest, DigestCall, DigestEntity } from "./digest.ts";

export interface DigestGround {
  readonly organization: { readonly id: number; readonly name: string };
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: string;
  readonly nowMs: number;
}

/** The message. Its id follows from organization, period and day, so that a destination gets it once. */
export function digestMessage(
  digest: Digest,
  { organization, address, nowMs }: DigestGround,
): OutgoingMessage {
  const pages = `${address}/o/${organization.id}`;
  const { period, day, entered, left, scoredDay } = digest;
  const what = `${period} digest of ${formatDay(day)}`;
  const body: MessageBody = {
    type: "digest",
    timestamp: new Date(nowMs).toISOString(),
    data: {
      text: `${organization.name}: ${what}. ${summaryOf(digest)}`,
      link: `${pages}/overview`,
      period,
      day: formatDay(day),
      scoredDay: scoredDay === null ? null : formatDay(scoredDay),
      ...(isCompared(digest) ? { entered: entered.total, left: left.total } : { entered: null, left: null }),
      rows: rowsOf(digest, pages),
    },
  };
  return {
    messageId: digestId(organization.id, period, day),
    type: "digest",
    body: JSON.stringify(body),
  };
}

/** The message id of a period's digest. */
export function digestId(organization: number, period: Digest["period"], day: number): string {
  const hash = createHash("sha256").update(JSON.stringify(["digest", organization, period, day]));
  return `msg_${hash.digest("hex").slice(0, 32)}`;
}

/** Whether churn risks are known now, and there are earlier scores. */
function isCompared({ hasModel, sinceDay }: Digest): boolean {
  return hasModel && sinceDay !== null;
}

function summaryOf(digest: Digest): string {
  const { kind, entered, left, scoredDay, data } = digest;
  if (data.stoppedSince !== null) return `Scores wait for data since ${formatDay(data.stoppedSince)}.`;
  if (scoredDay === null) return "There are no scores yet.";
  if (!isCompared(digest)) {
    if (digest.hasModel) return "There are no earlier scores to compare with.";
    const why = digest.lacksData ? "there is too little data for a model" : "no model passed the back-test";
    return `No churn risk is known: ${why}.`;
  }
  return `${counted(entered.total, kind)} entered high risk, ${left.total} left it.`;
}

/** The lines of a digest: the most important first. */
function rowsOf(digest: Digest, pages: string): readonly MessageRow[] {
  const { kind, entered, left, movedBySettings, insideBySettings, top, changes, currency } = digest;
  const line = (entity: DigestEntity, text: string): MessageRow => ({
    name: cutText(entity.label, textCharacters),
    text: `${text}${lossOf(entity, currency)}`,
    link: `${pages}/${kind}s/${encodeURIComponent(entity.id)}`,
  });
  const about = (name: string, text: string, page: string): MessageRow => ({
    name,
    text,
    link: `${pages}/${page}`,
  });
  const list = `${kind}s?riskBand=high`;
  const rows = [
    ...entered.named.map((one) => line(one, `entered high risk: ${risksOf(one)}`)),
    ...moreOf(entered).map((text) => about("Entered high risk", text, list)),
    ...left.named.map((one) =>
      line(one, one.state === "churned" ? "churned" : `left high risk: ${risksOf(one)}`),
    ),
    ...moreOf(left).map((text) => about("Left high risk", text, `${kind}s`)),
    ...(movedBySettings === 0
      ? []
      : [
          about(
            "By settings",
            `${counted(movedBySettings, kind)} moved only by other settings or another model.`,
            "model",
          ),
        ]),
    ...(insideBySettings === 0
      ? []
      : [about("Taken over", insideSentence(insideBySettings), "settings/alert-rules")]),
    ...top.map((one, at) => ({
      name: cutText(one.label, textCharacters),
      text: cutText(`number ${at + 1} to call: ${callWords(one, currency)}`, textCharacters),
      link: `${pages}/${one.kind}s/${encodeURIComponent(one.id)}`,
    })),
    ...alertLines(digest).map((text) => about("Alerts", text, "alerts")),
    ...doneLines(digest).map((text) => about("Done", text, "results")),
    ...changes.map((text) => about("Changed", cutText(text, textCharacters), "settings")),
    ...dataLines(digest).map((text) => about("Data", text, "sources")),
  ];
  let bytes = 0;
  return rows.filter((row) => {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    return bytes <= destinationLimits.bodyBytes - headBytes;
  });
}

function insideSentence(count: number): string {
  const has = count === 1 ? "user or account has" : "users or accounts have";
  return `${count} ${has} no alert: rules took them over, because a rule is new, or settings, the model or the past changed.`;
}

/** The bytes of a body without its rows, at most. */
const headBytes = 2_000;

/** How many entities moved without being named: the others, and controls of a hold-out. */
function moreOf({ total, named }: Digest["entered"]): readonly string[] {
  const left = total - named.length;
  return left === 0 ? [] : [`${left}${named.length === 0 ? "" : " more"}.`];
}

function alertLines({ alerts, precision }: Digest): readonly string[] {
  const { fired, handled, notUseful, withTask, untouched, churned } = alerts;
  const { mature, rate, interval } = precision;
  const done = `${handled} handled, ${notUseful} not useful, ${withTask} with a task, ${untouched} untouched`;
  return [
    ...(fired === 0 ? [] : [`${counted(fired, "alert")} in the last 7 days: ${done}. ${churned} churned.`]),
    ...(rate === null || interval === null
      ? []
      : [
          `Precision so far: ${percentText(rate)} of ${counted(mature, "untouched alert")} churned (${percentText(interval.low)} to ${percentText(interval.high)}).`,
        ]),
  ];
}

/** 12 customers were worked on in 7 days, with $4,300 MRR then and $4,100 now: 9 of 10 still pay. 3 saved. */
function doneLines({ done, currency }: Digest): readonly string[] {
  const { customers, paying, stillPaying, mrrThen, mrrNow, outcomes } = done;
  if (customers === 0) return [];
  const amounts =
    currency === "" || paying === 0
      ? ""
      : `, with ${amountText(mrrThen, currency)} MRR then and ${amountText(mrrNow, currency)} now: ${stillPaying} of ${paying} still pay`;
  const said = workOutcomes.flatMap((name) =>
    outcomes[name] > 0 ? [`${outcomes[name]} ${outcomeWords[name]}`] : [],
  );
  const were = customers === 1 ? "was" : "were";
  return [
    `${counted(customers, "customer")} ${were} worked on in the last 7 days${amounts}.${said.length === 0 ? "" : ` ${said.join(", ")}.`}`,
  ];
}

const outcomeWords = {
  saved: "saved",
  lost: "lost",
  noAnswer: "without an answer",
  wrongAlarm: "wrong alarms",
  other: "with another outcome",
} as const satisfies Record<WorkOutcome, string>;

function dataLines({ data: { silent, stoppedSince, rejectedEvents } }: Digest): readonly string[] {
  return [
    ...(stoppedSince === null ? [] : [`Scores wait for data since ${formatDay(stoppedSince)}.`]),
    ...silent.map(({ source, sinceMs }) => silenceSentence(source, new Date(sinceMs).toISOString())),
    ...(rejectedEvents === 0 ? [] : [`${counted(rejectedEvents, "rejected event")} to look at.`]),
  ];
}

function risksOf({ risk, riskBefore }: DigestEntity): string {
  return `${percentText(risk)}, was ${percentText(riskBefore)}`;
}

function lossOf({ expectedLoss }: DigestEntity, currency: string): string {
  if (expectedLoss === null || currency === "") return "";
  return `, expected loss ${amountText(expectedLoss, currency)} a month`;
}

function callWords(call: DigestCall, currency: string): string {
  return [call.reason, worthWords(call, currency)].filter((words) => words !== "").join(". ");
}

const textCharacters = 200;
