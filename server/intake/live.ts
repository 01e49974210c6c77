/**
 * The live view of arriving items. Without watchers, a write request only reads `isWatched`. With watchers,
 * the requests of their organizations are recorded (watched-request.ts) and shown (live-channel.ts).
 */
import { randomBytes } from "node:crypto";
import { liveLimits } from "../../contract/live.ts";
import { every } from "../process/time.ts";
import { isAbout, LiveChannel, type LiveMessage, type LiveWatcher } from "./live-channel.ts";
import type { Endpoint } from "./notes.ts";

export type { Endpoint } from "./notes.ts";

import { WatchedRequest } from "./watched-request.ts";

/** Items are kept for this time after the last watcher has left, so that a page that is opened again is not
 * blank. */
const keptUnwatchedMs = 5 * 60_000;
const tickMs = 1_000;
/** Items that another node received before an erasure may arrive for this time. They take half a second
 * there, and more than ten seconds in the ledger. */
const forgottenMs = 30_000;

export class LiveView {
  readonly nowMs: () => number;
  /** By organization. */
  readonly #channels = new Map<number, LiveChannel>();
  /** Ids of users and accounts that were erased in the last 30 s, oldest first. */
  #forgotten: { readonly organization: number; readonly id: string; readonly atMs: number }[] = [];
  readonly #life = randomBytes(4).toString("hex");
  #endTicking: (() => void) | undefined;
  #isClosed = false;
  /** Whether any organization has watchers, or had some in the last minutes. */
  isWatched = false;

  constructor(nowMs: () => number) {
    this.nowMs = nowMs;
  }

  /** Records a write request. Its organization is set once it is known. */
  request(endpoint: Endpoint, path: string): WatchedRequest {
    return new WatchedRequest({ endpoint, path, atMs: this.nowMs() }, (organization) =>
      this.#channels.get(organization),
    );
  }

  /** Whether the person may open one more page of the organization's live view. */
  hasRoom(organization: number, person: number): boolean {
    if (this.#isClosed) return false;
    const channels = [...this.#channels.values()];
    const all = channels.reduce((sum, { watchers }) => sum + watchers, 0);
    const theirs = channels.reduce((sum, channel) => sum + channel.watchersOf(person), 0);
    const own = this.#channels.get(organization)?.watchers ?? 0;
    return (
      own < liveLimits.watchersOfOrganization &&
      theirs < liveLimits.watchersOfPerson &&
      all < liveLimits.watchers
    );
  }

  /** Adds a watcher of an organization. @param after the id of the last item that it knows
   * @returns a function that removes it */
  watch(organization: number, watcher: LiveWatcher, after: string): () => void {
    const channel = this.#channels.get(organization) ?? new LiveChannel(this.#life, this.nowMs);
    this.#channels.set(organization, channel);
    this.isWatched = true;
    this.#endTicking ??= every(tickMs, () => this.#tick());
    channel.join(watcher, after);
    return () => channel.leave(watcher);
  }

  /** The organizations with watchers on this node. */
  watchedOrganizations(): readonly number[] {
    return [...this.#channels].flatMap(([organization, { watchers }]) =>
      watchers > 0 ? [organization] : [],
    );
  }

  /** Shows an item that another node received. */
  show(organization: number, message: LiveMessage): void {
    this.#forgetForgotten();
    const isOfErased = this.#forgotten.some(
      (one) => one.organization === organization && isAbout(message, one.id),
    );
    if (!isOfErased) this.#channels.get(organization)?.show(message);
  }

  /** Forgets the items of a user or an account that is erased. Older items that arrive from other nodes are
   * not shown. */
  forget(organization: number, id: string): void {
    if (this.isWatched) this.#forgotten.push({ organization, id, atMs: this.nowMs() });
    this.#channels.get(organization)?.forget(id);
  }

  /** Ends the streams of an organization that is deleted, and forgets its items. */
  endOrganization(organization: number): void {
    this.#channels.get(organization)?.end("This organization was deleted.");
    this.#channels.delete(organization);
  }

  /** Ends every stream, and accepts no new one. */
  close(): void {
    this.#isClosed = true;
    for (const channel of this.#channels.values()) channel.end("The service is stopping.");
    this.#channels.clear();
    this.#rest();
  }

  #tick(): void {
    this.#forgetForgotten();
    for (const [organization, channel] of this.#channels) {
      channel.tick();
      if (channel.unwatchedMs > keptUnwatchedMs) this.#channels.delete(organization);
    }
    if (this.#channels.size === 0) this.#rest();
  }

  #forgetForgotten(): void {
    const keptAtMs = this.nowMs() - forgottenMs;
    this.#forgotten = this.#forgotten.filter(({ atMs }) => atMs > keptAtMs);
  }

  #rest(): void {
    this.isWatched = false;
    this.#forgotten = [];
    this.#endTicking?.();
    this.#endTicking = undefined;
  }
}
