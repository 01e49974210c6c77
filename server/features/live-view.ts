/**
 * The live view of what arrives. Intake answers it, because every write passes through its process. Each
 * watcher has a stream of server-sent events. It ends when the watcher reads nothing for a while, or may not
 * watch any more: a stream must not outlive its session.
 */

import type { LiveSkipped } from "../../contract/live.ts";
import { ApiError } from "../../contract/refusal.ts";
import { sourceOutcomes } from "../../contract/sources.ts";
import type { IntakeHandlers } from "../http/api/intake-api.ts";
import type { LiveView } from "../intake/live.ts";
import { eventBytes, type LiveMessage, type LiveWatcher, noItems } from "../intake/live-channel.ts";
import type { MemberRight } from "../members/rights.ts";

const retryAfterSeconds = 30;

export const liveHandlers = {
  "GET /api/live": async ({ live, place, signedIn, query, placeNow }) => {
    const organization = place.organization.id;
    const person = signedIn.session.person.id;
    if (!live.hasRoom(organization, person)) {
      const message =
        "Too many pages watch live at this moment. Close one of yours that does, or come back later.";
      throw new ApiError("rate_limit_exceeded", message, retryAfterSeconds);
    }
    const rightsNow = async () => (await placeNow())?.rights;
    const { rights } = place;
    return { stream: liveStream({ live, organization, person, after: query.after, rights, rightsNow }) };
  },
} satisfies Partial<IntakeHandlers>;

/** Most bytes that wait for a slow watcher; then messages are only counted. */
const maxWaitingBytes = 512 * 1024;
const maxSilentMs = 20_000;
/** Proxies close what is silent, often after 30 seconds. */
const beatEveryMs = 10_000;
const askEveryMs = 2_000;
/** Then it is begun anew, by the page itself, with a request like any other. */
const maxStreamMs = 3_600_000;

const beat = new TextEncoder().encode(": still here\n\n");

type Rights = readonly MemberRight[];

export interface LiveStreamParts {
  readonly live: LiveView;
  readonly organization: number;
  /** The id of the last item that the watcher knows. */
  readonly after: string;
  readonly person: number;
  /** The watcher's current rights in the organization; undefined after a sign-out or the end of the
   * membership. */
  readonly rightsNow: () => Promise<Rights | undefined>;
  /** The watcher's first rights. */
  readonly rights: Rights;
  /** A watcher that reads nothing for this time is disconnected. */
  readonly patienceMs?: number;
}

/** Opens the stream of an organization's items. */
export function liveStream(parts: LiveStreamParts): ReadableStream<Uint8Array> {
  let watcher: StreamWatcher | undefined;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Headers only leave with the first bytes.
        controller.enqueue(beat);
        watcher = new StreamWatcher(controller, parts);
        watcher.leave = parts.live.watch(parts.organization, watcher, parts.after);
      },
      cancel: () => watcher?.gone(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes }),
  );
}

class StreamWatcher implements LiveWatcher {
  readonly person: number;
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #nowMs: () => number;
  readonly #rightsNow: LiveStreamParts["rightsNow"];
  #rights: Rights;
  readonly #patienceMs: number;
  readonly #beganAtMs = performance.now();
  #tookAtMs = performance.now();
  #beatAtMs = performance.now();
  #askedAtMs = performance.now();
  #missed = noItems();
  #isOver = false;
  leave: () => void = () => undefined;

  constructor(controller: ReadableStreamDefaultController<Uint8Array>, parts: LiveStreamParts) {
    this.#controller = controller;
    this.#nowMs = parts.live.nowMs;
    this.person = parts.person;
    this.#rights = parts.rights;
    this.#rightsNow = parts.rightsNow;
    this.#patienceMs = parts.patienceMs ?? maxSilentMs;
  }

  take({ event, data }: LiveMessage, whole: Uint8Array): void {
    if (this.#isOver) return;
    const hidesToken = event === "item" && !this.#rights.includes("manage");
    const text = hidesToken ? eventBytes(event, { ...data, token: null }) : whole;
    if (this.#room() > text.byteLength) this.#controller.enqueue(text);
    else if (event === "item") this.#missed[data.outcome] += 1;
    else this.#miss(data);
  }

  tick(): void {
    const nowMs = performance.now();
    if (this.#room() > maxWaitingBytes / 2) this.#tookAtMs = nowMs;
    if (nowMs - this.#tookAtMs > this.#patienceMs) this.end("You took nothing for too long.", false);
    if (nowMs - this.#beganAtMs > maxStreamMs) this.end("An hour has passed.", false);
    if (this.#isOver) return;
    this.#tellMissed();
    if (nowMs - this.#beatAtMs >= beatEveryMs && this.#room() > 0) {
      this.#beatAtMs = nowMs;
      this.#controller.enqueue(beat);
    }
    if (nowMs - this.#askedAtMs < askEveryMs) return;
    this.#askedAtMs = nowMs;
    this.#rightsNow().then(
      (rights) => {
        if (rights === undefined) this.end("You are signed out, or not a member any more.", true);
        else this.#rights = rights;
      },
      () => this.end("The service could not tell whether you may watch.", false),
    );
  }

  end(message: string, isFinal: boolean): void {
    if (this.#isOver) return;
    this.gone();
    this.#controller.enqueue(eventBytes("end", { message, isFinal }));
    this.#controller.close();
  }

  /** The watcher has left. */
  gone(): void {
    this.#isOver = true;
    this.leave();
  }

  #tellMissed(): void {
    const missed = this.#missed;
    const isNone = Object.values(missed).every((count) => count === 0);
    if (isNone || this.#room() < maxWaitingBytes / 2) return;
    const skipped: LiveSkipped = { at: new Date(this.#nowMs()).toISOString(), ...missed };
    this.#missed = noItems();
    this.#controller.enqueue(eventBytes("skipped", skipped));
  }

  #miss({ at: _at, ...skipped }: LiveSkipped): void {
    for (const outcome of sourceOutcomes) this.#missed[outcome] += skipped[outcome];
  }

  #room(): number {
    return this.#controller.desiredSize ?? 0;
  }
}
