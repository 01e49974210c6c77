/** The bodies of messages: for webhooks, and for e-mail. */
import type { MessageType } from "../../contract/destinations/destinations.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { Mail } from "./mail.ts";
import { cutText, inOneLine, unlinked } from "./message-text.ts";

/** A line of a message: an account, its values, and where to read on. */
export interface MessageRow {
  readonly name: string;
  readonly text: string;
  /** An address of the pages. */
  readonly link: string;
}

/** The body of a message. */
export interface MessageBody {
  readonly type: MessageType;
  /** When the message was decided: RFC 3339. */
  readonly timestamp: string;
  readonly data: JsonObject & {
    /** The message as a sentence. */
    readonly text: string;
    readonly link: string;
    readonly rows?: readonly MessageRow[];
  };
}

/** The message as a mail. @param unsubscribe the address of the request that ends these mails */
export function mailOf({ data }: MessageBody, to: string, unsubscribe: string): Mail {
  const { text, link, rows = [] } = data;
  const lines = rows.map((row) => `- ${plain(row.name)}: ${plain(row.text)} (${row.link})`);
  const items = rows.map(
    (row) => `<li>${anchor(row.link, unlinked(row.name))}: ${html(unlinked(row.text))}</li>`,
  );
  const stop = unsubscribe.replace("/api/unsubscribe/", "/unsubscribe#");
  return {
    to,
    unsubscribe,
    subject: cutText(inOneLine(text), mailSubjectCharacters),
    text: [plain(text), "", ...lines, "", link, "", `To stop these mails: ${stop}`].join("\n"),
    html: `<p>${html(unlinked(text))}</p>${items.length === 0 ? "" : `<ul>${items.join("")}</ul>`}<p>${anchor(link, "Open Rekindle")}</p><p>${anchor(stop, "Stop these mails")}</p>`,
  };
}

/** A mail with one link, which a person requested. */
export function plainMail(to: string, subject: string, text: string, link: string): Mail {
  return {
    to,
    subject: cutText(inOneLine(subject), mailSubjectCharacters),
    unsubscribe: null,
    text: `${plain(text)}\n\n${link}\n`,
    html: `<p>${html(unlinked(text))}</p><p>${anchor(link, link)}</p>`,
  };
}

function plain(text: string): string {
  return unlinked(inOneLine(text));
}

const mailSubjectCharacters = 150;

function anchor(link: string, text: string): string {
  return `<a href="${html(link)}">${html(text)}</a>`;
}

function html(text: string): string {
  const one: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => one[character] ?? character);
}
