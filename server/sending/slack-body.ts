/** The body for an incoming webhook of Slack, Mattermost or Discord. Pure. */
import type { MessageBody, MessageRow } from "./message-body.ts";
import { cutText, inOneLine, noWidth, unlinked } from "./message-text.ts";

/** Slack's limits: api.slack.com/reference/block-kit/blocks. */
const slack = { blocks: 50, sectionCharacters: 3_000 } as const;
/** Discord takes 2,000 characters, and its form of a link may be longer than ours. */
const textCharacters = 1_900;
/** With these a first line fits into `textCharacters`, and each line into a section. */
const most = { head: 1_200, name: 400, text: 1_000, link: 600 } as const;

/** The body as JSON. Slack shows the blocks, Mattermost and Discord `text` alone. Lines that do not fit are
 * left out whole, and counted. */
export function slackBody({ data }: MessageBody): string {
  const { text, link, rows = [] } = data;
  const open = link.length > most.link ? "" : ` <${link}|Open Rekindle>`;
  const head = `${escapedWithin(text, most.head)}${open}`;
  const lines = rows.map(lineOf);
  const fitting = (fits: (all: readonly string[]) => boolean) => fittingLines(head, lines, fits);
  const sections = sectionsOf(fitting((all) => sectionsOf(all).length <= slack.blocks));
  return JSON.stringify({
    text: fitting((all) => all.join("\n").length <= textCharacters).join("\n"),
    // Verbatim: Slack would make links of bare addresses and of names of channels in a text.
    blocks: sections.map((text) => ({ type: "section", text: { type: "mrkdwn", text, verbatim: true } })),
  });
}

function lineOf({ name, text, link }: MessageRow): string {
  const shown = escapedWithin(name, most.name);
  const linked = link.length > most.link ? shown : `<${link}|${shown}>`;
  return `• ${linked}: ${escapedWithin(text, most.text)}`;
}

/** The first line and as many further lines as fit, with the number of lines left out. */
function fittingLines(
  head: string,
  lines: readonly string[],
  fits: (all: readonly string[]) => boolean,
): readonly string[] {
  if (fits([head, ...lines])) return [head, ...lines];
  for (let kept = lines.length - 1; kept > 0; kept--) {
    const all = [head, ...lines.slice(0, kept), moreLine(lines.length - kept)];
    if (fits(all)) return all;
  }
  return [head, moreLine(lines.length)];
}

function moreLine(left: number): string {
  return `… and ${left} more in Rekindle.`;
}

/** Lines put together into sections. */
function sectionsOf(lines: readonly string[]): readonly string[] {
  const sections: string[] = [];
  for (const line of lines) {
    const last = sections.at(-1);
    const longer = last === undefined ? line : `${last}\n${line}`;
    if (last !== undefined && longer.length <= slack.sectionCharacters)
      sections[sections.length - 1] = longer;
    else sections.push(line);
  }
  return sections;
}

/** A text as `escaped`, cut so that its escaped form is not longer. */
function escapedWithin(text: string, characters: number): string {
  const line = inOneLine(text);
  let short = escaped(line);
  for (let length = characters; short.length > characters; length = Math.max(1, Math.floor(length * 0.8))) {
    short = escaped(cutText(line, length));
  }
  return short;
}

/**
 * A text without markup. Slack reads `&`, `<` and `>`, and a bar ends the text of a link. Mattermost and
 * Discord make a link of `](`, and notify people of a name after `@`. A space without width ends both, and is
 * not seen. E-mail addresses stay as they are.
 */
function escaped(text: string): string {
  const one: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "¦" };
  return unlinked(text)
    .replace(/[&<>|]/g, (character) => one[character] ?? character)
    .replaceAll("](", `]${noWidth}(`)
    .replace(/(?<!\w)@|@(?=everyone|here)/gi, `@${noWidth}`);
}
