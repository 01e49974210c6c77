/**
 * This process as a node. It writes a heartbeat every two seconds. Several times a second it reads the live
 * nodes and the number of the last change. It has connections of its own, so that heartbeats do not wait for
 * other work.
 *
 * A cache entry may be older than the last change. So caches are not trusted if the last successful look is
 * too old. Every node rejects a revoked token after at most a second, even while it cannot reach the ledger.
 */

import { randomUUID } from "node:crypto";
import type { Logger } from "../../process/log.ts";
import { messageOf } from "../../process/message-of.ts";
import { every } from "../../process/time.ts";
import type { ChangeHooks, LiveNode, NodeRole } from "../nodes.ts";
import { bothClocks } from "./both-clocks.ts";
import { openPool, type Sql } from "./connect.ts";
import { type ErasedName, erasedNames } from "./erased-names.ts";
import { type LiveItemRow, newLive, sendLive } from "./live-items.ts";
import { knownForm } from "./migrations/migrations.ts";
import { answerWithin, NoAnswer } from "./no-answer.ts";
import {
  type Beat,
  beat,
  countsFlushedEverywhere,
  forgetNode,
  type Look,
  liveSeconds,
  look,
  nodeKey,
  unsettled,
} from "./nodes.ts";

const lookEveryMs = 300;
const beatEveryMs = 2_000;
/** Caches are trusted for this time after a look began. */
const believedMs = 900;
/** After this time without an answer the connections are closed, and others are opened. */
const patienceMs = 3_000;
/** With an older heartbeat the node begins no write, because other nodes may count it as dead. */
const maxHeartbeatAgeMs = (liveSeconds - 2) * 1_000;
const settledPollMs = 100;

export interface NodeOptions {
  /** The address of the database. */
  readonly databaseUrl: string;
  readonly role: NodeRole;
  /** The address of this node for other nodes. */
  readonly nodeUrl: string | null;
  readonly version: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

export class ClusterNode {
  readonly id = randomUUID();
  readonly nowMs: () => number;
  readonly #options: NodeOptions;
  #sql: Sql;
  #look: Look = { version: 0, form: 0, asked: 0, nodes: [] };
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** By the monotonic clock, which never jumps, and by the wall clock, which runs while the machine
   * sleeps. */
  #heartbeatAtMs = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
  readonly #changes = new Reached();
  readonly #counts = new Reached();
  #watches: readonly number[] = [];
  #hooks: ChangeHooks | undefined;
  #onNodes: () => void = () => undefined;
  #endPolling: readonly (() => void)[] = [];
  #failure: string | undefined;
  #hasLeft = false;
  /** The present look. */
  #looking: Promise<void> | undefined;
  #beating: Promise<void> | undefined;
  #leaderStatus: () => string | null = () => null;

  constructor(options: NodeOptions) {
    this.nowMs = options.nowMs;
    this.#options = options;
    this.#sql = openOwnPool(options.databaseUrl);
  }

  /** Writes the first heartbeat, and begins the regular ones. */
  async start(): Promise<void> {
    const started = bothClocks(this.nowMs);
    await beat(this.#sql, this.#ownBeat());
    this.#heartbeatAtMs = started;
    await this.look();
    this.#endPolling = [every(lookEveryMs, () => this.look()), every(beatEveryMs, () => this.beat())];
  }

  /** Calls these hooks after each change. No cache may be filled before this call. */
  whenChanged(hooks: ChangeHooks): void {
    this.#hooks = hooks;
    this.#changes.restart();
    this.#callHooks();
  }

  /** Calls this after every look. */
  whenLooked(onNodes: () => void): void {
    this.#onNodes = onNodes;
    onNodes();
  }

  /** Sends this with every heartbeat. @param status of the leader's work as JSON. Null while this node does
   * not lead */
  whileLeading(status: () => string | null): void {
    this.#leaderStatus = status;
  }

  /** The node's own connections, for statements that must not wait for other work. */
  get sql(): Sql {
    return this.#sql;
  }

  /** All live nodes, including this one. */
  get live(): readonly LiveNode[] {
    return this.#look.nodes;
  }

  /** The number of live intake processes, including this one. At least 1. */
  get liveIntakes(): number {
    return Math.max(1, this.live.filter(({ role }) => role === "intake").length);
  }

  /** The node that leads the work on the warehouse. */
  get leader(): LiveNode | undefined {
    return this.live.find(({ leaderStatus }) => leaderStatus !== null);
  }

  /** The reason why the ledger cannot be reached. Undefined while it can. */
  get failure(): string | undefined {
    return performance.now() - this.#lookedAtMs < patienceMs ? undefined : (this.#failure ?? "no answer");
  }

  /** Whether caches may be trusted. */
  readonly isFresh = (): boolean => performance.now() - this.#lookedAtMs < believedMs;

  /** The instruction for operators after a newer node has changed the ledger's tables. Then this node writes
   * nothing. */
  get outdated(): string | undefined {
    if (this.#look.form <= knownForm) return undefined;
    return "a newer version of Rekindle has migrated the ledger: upgrade this node";
  }

  /** @throws Error when other nodes may count this one as dead, or when it does not know the ledger's form */
  readonly refuseStaleHeartbeat = (): void => {
    if (this.outdated !== undefined) throw new Error(this.outdated);
    const { monotonic, wall } = bothClocks(this.nowMs);
    const at = this.#heartbeatAtMs;
    if (monotonic - at.monotonic < maxHeartbeatAgeMs && wall - at.wall < maxHeartbeatAgeMs) return;
    throw new Error("This node's last heartbeat is too old: it writes nothing until the next one succeeds.");
  };

  /** Resolves when every live intake node has stored the counts in its memory, or after 5 s. */
  readonly countsFlushed = (): Promise<void> => countsFlushedEverywhere(this.#sql);

  /** The secret for requests between nodes. */
  key(): Promise<string> {
    return nodeKey(this.#sql);
  }

  /** Users and accounts that were just erased. Caches of this node may still have them. */
  erased(): Promise<readonly ErasedName[]> {
    return erasedNames(this.#sql);
  }

  /** Publishes messages of the live view to the other nodes. */
  sendLive(rows: readonly LiveItemRow[]): Promise<void> {
    return sendLive(this.#sql, this.id, rows);
  }

  /** Messages of these organizations that other nodes have published since `after`: see `newLive`. */
  newLive(after: number | null, organizations: readonly number[]): ReturnType<typeof newLive> {
    return newLive(this.#sql, { node: this.id, after, organizations });
  }

  /** Publishes the organizations whose live view is open on this node. */
  watch(organizations: readonly number[]): void {
    const before = this.#watches.join();
    this.#watches = organizations;
    if (organizations.join() !== before) this.beat();
  }

  /** Resolves when every node has committed all requests that it admitted before the last change. */
  async settledEverywhere(): Promise<void> {
    const startedMs = performance.now();
    for (let waiting = 1; ; waiting += 1) {
      const nodes = await unsettled(this.#sql);
      if (nodes.length === 0) return;
      if (waiting % 100 === 0) {
        const seconds = Math.round((performance.now() - startedMs) / 1_000);
        this.#options.log.warn({ nodes, seconds }, "waiting for nodes to follow a change");
      }
      await Bun.sleep(settledPollMs);
    }
  }

  /** Resolves when no other node uses cache entries from before the last change. Each node has reported it,
   * or its entries are too old to be trusted. */
  async knownEverywhere(): Promise<void> {
    const endMs = performance.now() + believedMs;
    const others = () => unsettled(this.#sql).then((ids) => ids.some((id) => id !== this.id));
    // If PostgreSQL does not answer, the entries become too old after this time.
    while (performance.now() < endMs && (await answerWithin(patienceMs, others()).catch(() => true)))
      await Bun.sleep(settledPollMs);
  }

  /** Deletes the heartbeat, so that other nodes send no further requests to this one. */
  async leave(): Promise<void> {
    for (const end of this.#endPolling) end();
    this.#hasLeft = true;
    await this.#beating;
    await answerWithin(patienceMs, forgetNode(this.#sql, this.id)).catch(() => undefined);
  }

  /** Closes its connections. */
  async close(): Promise<void> {
    for (const end of this.#endPolling) end();
    await this.#sql.end({ timeout: 1 });
  }

  /** Reads the last change and the live nodes, one look at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#try(async (sql) => {
      const startedMs = performance.now();
      this.#look = await answerWithin(patienceMs, look(sql));
      this.#lookedAtMs = startedMs;
      this.#callHooks();
      this.#onNodes();
    }).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Writes a heartbeat, one at a time. After `leave` it writes none: the node would appear again. */
  beat(): Promise<void> {
    if (this.#hasLeft) return Promise.resolve();
    this.#beating ??= this.#try(async (sql) => {
      const started = bothClocks(this.nowMs);
      await answerWithin(patienceMs, beat(sql, this.#ownBeat()));
      this.#heartbeatAtMs = started;
    }).finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  #ownBeat(): Beat {
    const { role, nodeUrl: url, version } = this.#options;
    return {
      id: this.id,
      role,
      url,
      version,
      settledVersion: this.#changes.done,
      countsFlushed: this.#counts.done,
      leaderStatus: this.#leaderStatus(),
      watches: this.#watches,
    };
  }

  /** Calls the hooks when there is a new change, or a new request for counts. */
  #callHooks(): void {
    const hooks = this.#hooks;
    if (hooks === undefined) return;
    const { version, asked } = this.#look;
    const settle = () => {
      hooks.forget();
      return hooks.settled();
    };
    for (const done of [
      this.#changes.reach(version, settle),
      this.#counts.reach(asked, () => hooks.flushCounts()),
    ]) {
      done.then(
        (isNew) => (isNew ? this.#beatAgain() : undefined),
        (error) => this.#options.log.warn({ err: error }, "the next look tries again to follow a change"),
      );
    }
  }

  async #beatAgain(): Promise<void> {
    // A heartbeat that is under way does not include it.
    await this.#beating;
    await this.beat();
  }

  async #try(work: (sql: Sql) => Promise<void>): Promise<void> {
    const sql = this.#sql;
    try {
      await work(sql);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      if (!(error instanceof NoAnswer) || sql !== this.#sql) return;
      this.#sql = openOwnPool(this.#options.databaseUrl);
      sql.end({ timeout: 0 }).catch(() => undefined);
    }
  }
}

/** A counter of the ledger, and the number that this node has reached. */
class Reached {
  #begun = 0;
  /** The highest number for which the work is done. */
  done = 0;

  /** Runs the work for a number, once for each number. After an error the next call runs it again.
   * @returns whether the work was done */
  async reach(number: number, work: () => Promise<unknown>): Promise<boolean> {
    if (number === this.#begun) return false;
    this.#begun = number;
    try {
      await work();
    } catch (error) {
      this.restart();
      throw error;
    }
    this.done = Math.max(this.done, number);
    return true;
  }

  /** Lets the next call run the work for the present number again. */
  restart(): void {
    this.#begun = 0;
  }
}

function openOwnPool(url: string): Sql {
  return openPool(url, { connections: 2, statementTimeoutMs: 5_000 });
}
