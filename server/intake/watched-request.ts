/** A write request in the live view: its body, the outcome of each item, and the answer. */

import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { type LiveItem, liveLimits } from "../../contract/live.ts";
import type { SourceOutcome } from "../../contract/sources.ts";
import { whyTooDeep } from "./admission/json.ts";
import { personIn, type SourcedItem } from "./admission/sourced.ts";
import { errorOf, isStored, type Outcome } from "./decide/requests.ts";
import type { LiveChannel, LiveOutcome } from "./live-channel.ts";
import type { Endpoint } from "./notes.ts";
import type { Noted } from "./warnings.ts";

/** The sender of a request. */
export interface Sender {
  readonly organization: number;
  readonly token: LiveItem["token"];
  readonly idempotencyKey: string | null;
  /** The token itself, if the payload may contain it. Watchers must not see it. */
  readonly secret?: string | undefined;
}

/** An item of a connected source and its outcome. */
interface WatchedItem {
  /** As it was sent. */
  readonly sent: unknown;
  /** The item that it was translated into. Undefined if that failed. */
  readonly item?: SourcedItem | undefined;
  readonly outcome: SourceOutcome;
  /** Why it was rejected or ignored. */
  readonly reason?: string | undefined;
  readonly warnings: LiveItem["warnings"];
}

/** Replaces a token. */
const hiddenSecret = "rk-…";

/** Warnings that repeat the error of a rejected item. */
const kindsRepeatedByError: ReadonlySet<string> = new Set([
  "duplicate",
  "refused_validation",
  "refused_unknown_user",
  "rate_limited",
]);

/** As many characters of a header as an id may have. */
const maxKeyCharacters = 256;

type Shown = Pick<
  LiveItem,
  | "kind"
  | "userId"
  | "event"
  | "outcome"
  | "error"
  | "ignoredBecause"
  | "batch"
  | "payload"
  | "payloadCharacters"
  | "warnings"
>;

export class WatchedRequest {
  readonly #path: string;
  readonly #atMs: number;
  #endpoint: Endpoint;
  readonly #channelOf: (organization: number) => LiveChannel | undefined;
  #channel: LiveChannel | undefined;
  #sender: Sender | undefined;
  #body: Uint8Array | undefined;
  #warnings: LiveItem["warnings"] = [];
  /** Items for which a place was taken. */
  readonly #shown: Shown[] = [];
  #hasItems = false;

  constructor(
    { endpoint, path, atMs }: { endpoint: Endpoint; path: string; atMs: number },
    channelOf: (organization: number) => LiveChannel | undefined,
  ) {
    this.#endpoint = endpoint;
    this.#path = path;
    this.#atMs = atMs;
    this.#channelOf = channelOf;
  }

  /** Sets the sender. A request without a known sender is not shown. */
  from(sender: Sender): void {
    this.#sender = sender;
    this.#channel = this.#channelOf(sender.organization);
  }

  /** Sets the tool whose client sent the request, for a path that several tools use. */
  sentBy(source: Endpoint): void {
    this.#endpoint = source;
  }

  /** Sets the body as it was sent. */
  body(bytes: Uint8Array): void {
    this.#body = bytes;
  }

  /** Whether the request has watchers. */
  get isShown(): boolean {
    return this.#channel !== undefined;
  }

  /** Adds a warning about the next item. */
  note({ kind, detail }: Noted): void {
    if (this.#channel === undefined || kindsRepeatedByError.has(kind)) return;
    this.#warnings.push(boundedWarning({ kind, detail }));
  }

  /** Adds an item and its outcome. @param sent its content, as far as it could be read */
  item(sent: unknown, outcome: Outcome, batch: LiveItem["batch"] = null): void {
    const warnings = this.#warnings;
    this.#warnings = [];
    this.#hasItems = true;
    const shownOutcome = outcomeOf(outcome);
    if (!this.#channel?.takePlace(shownOutcome)) return;
    const error = errorOf(outcome) ?? null;
    const payload = batch === null ? this.#bodyText() : this.#textOf(sent);
    const fields = isJsonObject(sent) ? sent : undefined;
    const kind = this.#kindOf(fields);
    const event = kind === "track" ? this.#nameIn(fields?.event) : null;
    this.#shown.push({
      kind,
      userId: this.#nameIn(fields?.userId),
      event,
      outcome: shownOutcome,
      error,
      batch,
      warnings,
      ignoredBecause: null,
      ...payload,
    });
  }

  /** Adds an item of a connected source and its outcome. */
  sourcedItem({ sent, item, outcome, reason, warnings }: WatchedItem, batch: LiveItem["batch"]): void {
    this.#hasItems = true;
    if (!this.#channel?.takePlace(outcome)) return;
    const fields = isJsonObject(sent) ? sent : {};
    const userId = item && personIn(item);
    const isRejected = outcome === "rejected" && reason !== undefined;
    this.#shown.push({
      kind: item?.type ?? null,
      userId: this.#nameIn(userId ?? fields.userId ?? fields.anonymousId),
      event: this.#nameIn(item?.type === "track" ? item.event : fields.event),
      outcome,
      batch,
      warnings: warnings.filter(({ kind }) => !kindsRepeatedByError.has(kind)).map(boundedWarning),
      error: isRejected ? (errorOf({ invalid: reason }) ?? null) : null,
      ignoredBecause: outcome === "ignored" ? (reason ?? null) : null,
      ...(batch === null ? this.#bodyText() : this.#textOf(sent)),
    });
  }

  /** Sets the answer to the sender, and shows the request. */
  async answered(response: Response): Promise<void> {
    const [channel, sender] = [this.#channel, this.#sender];
    if (channel === undefined || sender === undefined) return;
    if (this.#hasItems && this.#shown.length === 0) return;
    // An empty batch is no failure.
    if (!this.#hasItems && response.ok) return;
    const text = await response.clone().text();
    if (!this.#hasItems && channel.takePlace("rejected")) this.#shown.push(this.#unread(text));
    const request = {
      at: new Date(this.#atMs).toISOString(),
      endpoint: this.#endpoint,
      path: this.#path,
      status: response.status,
      answer: bounded(text, liveLimits.answerCharacters),
      token: sender.token,
      idempotencyKey: sender.idempotencyKey && bounded(sender.idempotencyKey, maxKeyCharacters),
    };
    for (const item of this.#shown) channel.add({ ...request, ...item });
  }

  /** A request that was rejected before its items were read. */
  #unread(answer: string): Shown {
    return {
      kind: this.#kindOf(undefined),
      userId: null,
      event: null,
      outcome: "rejected" as const,
      error: JSON.parse(answer) as LiveItem["error"],
      ignoredBecause: null,
      batch: null,
      warnings: [],
      ...this.#bodyText(),
    };
  }

  #kindOf(sent: JsonObject | undefined): LiveItem["kind"] {
    if (this.#endpoint === "identify" || this.#endpoint === "track") return this.#endpoint;
    return sent?.type === "identify" || sent?.type === "track" ? sent.type : null;
  }

  #bodyText(): Pick<LiveItem, "payload" | "payloadCharacters"> {
    const body = this.#body;
    if (body === undefined) return { payload: null, payloadCharacters: 0 };
    const secret = this.#sender?.secret;
    if (secret !== undefined && Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(secret)) {
      return this.#withoutSecret(new TextDecoder().decode(body));
    }
    // The option `stream` leaves out a character that is cut at the end.
    const text = new TextDecoder().decode(body.subarray(0, liveLimits.payloadCharacters), {
      stream: true,
    });
    return { payload: text, payloadCharacters: body.byteLength };
  }

  #textOf(sent: unknown): Pick<LiveItem, "payload" | "payloadCharacters"> {
    const isTooDeep = whyTooDeep(sent) !== undefined;
    return this.#withoutSecret(isTooDeep ? "(nested too deep to be shown)" : JSON.stringify(sent ?? null));
  }

  #withoutSecret(text: string): Pick<LiveItem, "payload" | "payloadCharacters"> {
    const shown = this.#hidden(text);
    return { payload: bounded(shown, liveLimits.payloadCharacters), payloadCharacters: shown.length };
  }

  /** An id or a name as it is shown: the value that was sent, without the token. */
  #nameIn(value: unknown): string | null {
    return typeof value === "string" || typeof value === "number"
      ? bounded(this.#hidden(String(value)), maxKeyCharacters)
      : null;
  }

  #hidden(text: string): string {
    const secret = this.#sender?.secret;
    return secret === undefined ? text : text.replaceAll(secret, hiddenSecret);
  }
}

function outcomeOf(outcome: Outcome): LiveOutcome {
  if (isStored(outcome)) return "accepted";
  return outcome === "duplicate" ? "duplicate" : "rejected";
}

function boundedWarning({ kind, detail }: LiveItem["warnings"][number]): LiveItem["warnings"][number] {
  return { kind, detail: detail === null ? null : bounded(detail, maxKeyCharacters) };
}

/** The text's beginning, copied. A slice would keep the whole text in memory. */
function bounded(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : Buffer.from(text.slice(0, maxCharacters)).toString();
}
