/** A write request that somebody watches: what was sent, what became of each item, and what the sender was answered. */
import { type LiveItem, liveLimits } from "../../contract/live.ts";
import { isJsonObject, type JsonObject } from "../ledger/ledger.ts";
import type { Outcome } from "./decide.ts";
import type { LiveChannel, LiveOutcome } from "./live-channel.ts";
import type { Endpoint } from "./notes.ts";
import { errorOf } from "./outcome-error.ts";
import type { Noted } from "./warnings.ts";

/** Who sent a request. */
export interface Sender {
  readonly organization: number;
  readonly token: LiveItem["token"];
  readonly idempotencyKey: string | null;
}

/** What is said of a refused item anyway, by its error. */
const saidByOutcome: ReadonlySet<string> = new Set([
  "duplicate",
  "refused_validation",
  "refused_unknown_user",
  "rate_limited",
]);

/** As many characters of a header as an id may have. */
const maxKeyCharacters = 256;

type Shown = Pick<
  LiveItem,
  "kind" | "userId" | "event" | "outcome" | "error" | "batch" | "payload" | "payloadCharacters" | "warnings"
>;

export class WatchedRequest {
  readonly #endpoint: Endpoint;
  readonly #atMs: number;
  readonly #channelOf: (organization: number) => LiveChannel | undefined;
  #channel: LiveChannel | undefined;
  #sender: Sender | undefined;
  #body: Uint8Array | undefined;
  #warnings: LiveItem["warnings"] = [];
  /** Items for which a place was taken. */
  readonly #shown: Shown[] = [];
  #hasItems = false;

  constructor(
    endpoint: Endpoint,
    atMs: number,
    channelOf: (organization: number) => LiveChannel | undefined,
  ) {
    this.#endpoint = endpoint;
    this.#atMs = atMs;
    this.#channelOf = channelOf;
  }

  /** Whose it is. What is never said belongs to nobody and is not shown. */
  from(sender: Sender): void {
    this.#sender = sender;
    this.#channel = this.#channelOf(sender.organization);
  }

  /** What was sent. */
  body(bytes: Uint8Array): void {
    this.#body = bytes;
  }

  /** Whether it is shown to anybody: if not, nobody needs to be told more. */
  get isShown(): boolean {
    return this.#channel !== undefined;
  }

  /** Takes a warning about the next item. */
  note({ kind, detail }: Noted): void {
    if (this.#channel === undefined || saidByOutcome.has(kind)) return;
    this.#warnings.push({ kind, detail: detail === null ? null : bounded(detail, maxKeyCharacters) });
  }

  /** What became of an item. @param sent what it says, as far as it could be read */
  item(sent: unknown, outcome: Outcome, batch: LiveItem["batch"] = null): void {
    const warnings = this.#warnings;
    this.#warnings = [];
    this.#hasItems = true;
    const shownOutcome = outcomeOf(outcome);
    if (!this.#channel?.takePlace(shownOutcome)) return;
    const error = errorOf(outcome) ?? null;
    const payload = batch === null ? this.#bodyText() : textOf(JSON.stringify(sent ?? null));
    const said = isJsonObject(sent) ? sent : undefined;
    const kind = this.#kindOf(said);
    const event = kind === "track" ? nameIn(said?.event) : null;
    this.#shown.push({
      ...{ kind, userId: nameIn(said?.userId), event, outcome: shownOutcome, error, batch, warnings },
      ...payload,
    });
  }

  /** What the sender is answered; shows the request. */
  async answered(response: Response): Promise<void> {
    const [channel, sender] = [this.#channel, this.#sender];
    if (channel === undefined || sender === undefined) return;
    if (this.#hasItems && this.#shown.length === 0) return;
    const text = await response.clone().text();
    if (!this.#hasItems && channel.takePlace("rejected")) this.#shown.push(this.#unread(text));
    const request = {
      at: new Date(this.#atMs).toISOString(),
      endpoint: this.#endpoint,
      status: response.status,
      answer: bounded(text, liveLimits.answerCharacters),
      token: sender.token,
      idempotencyKey: sender.idempotencyKey && bounded(sender.idempotencyKey, maxKeyCharacters),
    };
    for (const item of this.#shown) channel.add({ ...request, ...item });
  }

  /** A request that was refused before it had items. */
  #unread(answer: string): Shown {
    return {
      ...{ kind: this.#kindOf(undefined), userId: null, event: null, outcome: "rejected" as const },
      ...{ error: JSON.parse(answer) as LiveItem["error"], batch: null, warnings: [] },
      ...this.#bodyText(),
    };
  }

  #kindOf(sent: JsonObject | undefined): LiveItem["kind"] {
    if (this.#endpoint !== "batch") return this.#endpoint;
    return sent?.type === "identify" || sent?.type === "track" ? sent.type : null;
  }

  #bodyText(): Pick<LiveItem, "payload" | "payloadCharacters"> {
    if (this.#body === undefined) return { payload: null, payloadCharacters: 0 };
    // What is cut in the middle of a character is left out, as `stream` says.
    const text = new TextDecoder().decode(this.#body.subarray(0, liveLimits.payloadCharacters), {
      stream: true,
    });
    return { payload: text, payloadCharacters: this.#body.byteLength };
  }
}

function outcomeOf(outcome: Outcome): LiveOutcome {
  if (outcome === "stored") return "accepted";
  return outcome === "duplicate" ? "duplicate" : "rejected";
}

function textOf(text: string): Pick<LiveItem, "payload" | "payloadCharacters"> {
  return { payload: bounded(text, liveLimits.payloadCharacters), payloadCharacters: text.length };
}

/** An id or a name as it is shown: whatever was sent there. */
function nameIn(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number"
    ? bounded(String(value), maxKeyCharacters)
    : null;
}

/** The text's beginning, copied: a slice would keep the whole of it in memory. */
function bounded(text: string, maxCharacters: number): string {
  return text.length <= maxCharacters ? text : Buffer.from(text.slice(0, maxCharacters)).toString();
}
