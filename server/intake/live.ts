/**
 * The live view of what arrives. While nobody watches, a write request costs one look at `isWatched`; while somebody
 * does, the requests of watched organizations are followed (watched-request.ts) and shown (live-channel.ts).
 */
import { randomBytes } from "node:crypto";
import { liveLimits } from "../../contract/live.ts";
import { LiveChannel, type LiveWatcher } from "./live-channel.ts";
import type { Endpoint } from "./notes.ts";

export type { Endpoint } from "./notes.ts";

import { WatchedRequest } from "./watched-request.ts";

/** Items are kept so long after the last watcher has gone, so that a page that is opened again is not blank. */
const keptUnwatchedMs = 5 * 60_000;
const tickMs = 1_000;

export class LiveView {
  readonly #nowMs: () => number;
  /** By organization. */
  readonly #channels = new Map<number, LiveChannel>();
  readonly #life = randomBytes(4).toString("hex");
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;
  /** Whether any organization is watched, or was a moment ago. */
  isWatched = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Follows a write request; whose it is, it is told when that is known. */
  request(endpoint: Endpoint, path: string): WatchedRequest {
    return new WatchedRequest({ endpoint, path, atMs: this.#nowMs() }, (organization) =>
      this.#channels.get(organization),
    );
  }

  /** Whether one more may watch the organization. */
  hasRoom(organization: number): boolean {
    if (this.#isClosed) return false;
    const all = [...this.#channels.values()].reduce((sum, { watchers }) => sum + watchers, 0);
    const own = this.#channels.get(organization)?.watchers ?? 0;
    return own < liveLimits.watchersOfOrganization && all < liveLimits.watchers;
  }

  /** Lets somebody watch an organization. @param after the id of the last item that they know
   * @returns what ends it */
  watch(organization: number, watcher: LiveWatcher, after: string): () => void {
    const channel = this.#channels.get(organization) ?? new LiveChannel(this.#life, this.#nowMs);
    this.#channels.set(organization, channel);
    this.isWatched = true;
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
    channel.join(watcher, after);
    return () => channel.leave(watcher);
  }

  /** Forgets what is kept of a user who is erased. */
  forgetUser(organization: number, userId: string): void {
    this.#channels.get(organization)?.forgetUser(userId);
  }

  /** Ends every stream, and lets nobody in any more. */
  close(): void {
    this.#isClosed = true;
    for (const channel of this.#channels.values()) channel.end("The service is stopping.");
    this.#channels.clear();
    this.#rest();
  }

  #tick(): void {
    for (const [organization, channel] of this.#channels) {
      channel.tick();
      if (channel.unwatchedMs > keptUnwatchedMs) this.#channels.delete(organization);
    }
    if (this.#channels.size === 0) this.#rest();
  }

  #rest(): void {
    this.isWatched = false;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
