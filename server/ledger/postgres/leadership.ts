/**
 * Leadership of the work on the warehouse: loading, rebuilds, erasures, checks, scores. A node that gets the
 * lease leads for a term. The term is over when the lease could not be renewed or the process was paused. All
 * of its work ends before the node requests the lease again.
 *
 * A statement that changes the warehouse is sent only while the term holds by this node's own clocks. That is
 * shorter than the lease holds by the server's clock, so no statement is sent while another node may lead. A
 * node that cannot work on the warehouse leaves the lease to others. See docs/decisions/0030.
 */

import type { Logger } from "../../process/log.ts";
import { waitUpTo } from "../../process/wait-up-to.ts";
import { bothClocks } from "./both-clocks.ts";
import { LoaderLease, leaseSeconds } from "./loader-lease.ts";
import type { ClusterNode } from "./node.ts";
import { inTransaction } from "./transaction.ts";

const askEveryMs = 1_000;
const renewEveryMs = 5_000;
/** Subtracted from the lease. It covers the time between the read of the clock and the statement on the
 * server. */
const marginMs = 5_000;
/** The longest wait for an answer about the lease. A server that does not answer neither grants nor refuses
 * it. */
const patienceMs = 5_000;
/** A leader that cannot work for this time releases the lease. */
const maxUnableMs = 10_000;
/** A leader that stops has this time to finish its work. The next leader repeats unfinished work. */
const finishMs = 3_000;
/** The longest wait for the release. A lease that cannot be released expires. */
const releaseMs = 1_000;

/** The time for which a node leads. */
export class Term {
  readonly lease: LoaderLease;
  readonly #nowMs: () => number;
  readonly #over = Promise.withResolvers<void>();
  #isOver = false;
  /** By the monotonic clock, which never jumps, and by the wall clock, which runs while the machine
   * sleeps. */
  #untilMs = { monotonic: 0, wall: 0 };

  constructor(lease: LoaderLease, nowMs: () => number) {
    this.lease = lease;
    this.#nowMs = nowMs;
  }

  /** Whether no other node can lead at this moment. */
  get isHeld(): boolean {
    const { monotonic, wall } = this.#untilMs;
    return !this.#isOver && performance.now() < monotonic && this.#nowMs() < wall;
  }

  /** Resolves when the term is over. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Records that the lease was taken or renewed. @param asked the time of the request, by both clocks */
  kept(asked: ReturnType<typeof bothClocks>): void {
    const heldMs = leaseSeconds * 1_000 - marginMs;
    this.#untilMs = { monotonic: asked.monotonic + heldMs, wall: asked.wall + heldMs };
  }

  /** Ends the term. No further work runs in it. */
  end(): void {
    this.#isOver = true;
    this.lease.end();
    this.#over.resolve();
  }
}

/** The work of the node that leads. */
export interface Leader {
  /** Whether this node can do the work now. */
  canLead(): boolean;
  /** Begins the work of a term. */
  lead(term: Term): Leading;
}

/** The work of a leader. */
export interface Leading {
  /** Resolves when all of its work has ended. */
  stop(): Promise<void>;
}

export class Leadership {
  readonly #node: Pick<ClusterNode, "sql" | "outdated" | "nowMs">;
  readonly #unableMs: number;
  readonly #leader: Leader;
  readonly #log: Logger;
  readonly #stopping = Promise.withResolvers<void>();
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();

  /** @param unableMs a leader that cannot work keeps the lease for this time */
  constructor(
    node: Pick<ClusterNode, "sql" | "outdated" | "nowMs">,
    leader: Leader,
    log: Logger,
    unableMs = maxUnableMs,
  ) {
    this.#unableMs = unableMs;
    this.#node = node;
    this.#leader = leader;
    this.#log = log;
  }

  /** Begins to request the lease. */
  start(): void {
    this.#running = this.#run();
  }

  /** Ends the present work, and releases the lease at once. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopping.resolve();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const term = new Term(new LoaderLease(), this.#node.nowMs);
      if (this.#leader.canLead() && (await this.#keep(term))) await this.#serve(term);
      else await this.#rest(askEveryMs);
    }
  }

  async #serve(term: Term): Promise<void> {
    this.#log.info("this node leads the work on the warehouse");
    const leading = this.#leader.lead(term);
    const isAble = await this.#held(term);
    const finishes = term.isHeld && isAble;
    if (!finishes) {
      const why = isAble ? "it could not keep the lease" : "it cannot work on the warehouse";
      this.#log.warn(`this node leads no more: ${why}`);
      // A leader that is stopping finishes its batch. A leader that lost the lease must not.
      term.end();
    }
    const stopped = leading.stop();
    if (finishes) await waitUpTo(finishMs, stopped);
    // From here on no statement is sent, not even for unfinished work.
    term.end();
    const released = term.lease.release(this.#node.sql).catch(() => undefined);
    await waitUpTo(releaseMs, released);
    await Promise.race([stopped, this.#stopping.promise]);
    // This node waits, so that nodes that can work request the lease first.
    if (!isAble) await this.#rest(renewEveryMs);
  }

  /** Renews the lease while this node can. @returns false when the node could not work for too long */
  async #held(term: Term): Promise<boolean> {
    let ableAtMs = performance.now();
    while (!this.#isStopping && term.isHeld) {
      await this.#rest(renewEveryMs);
      if (this.#leader.canLead()) ableAtMs = performance.now();
      else if (performance.now() - ableAtMs > this.#unableMs) return false;
      // The term is over after a pause of the process: another node may have led meanwhile.
      if (!this.#isStopping && term.isHeld) await this.#keep(term);
    }
    return true;
  }

  /** Takes or renews the lease. @returns false while another node has it, or without an answer */
  async #keep(term: Term): Promise<boolean> {
    const asked = bothClocks(this.#node.nowMs);
    if (this.#node.outdated !== undefined) {
      term.end();
      return false;
    }
    try {
      const asking = inTransaction(this.#node.sql, (tx) => term.lease.take(tx));
      const kept = await Promise.race([asking, Bun.sleep(patienceMs).then(() => false)]);
      if (kept) term.kept(asked);
      else term.end();
      return kept;
    } catch (error) {
      this.#log.debug({ err: error }, "the lease could not be asked for");
      return false;
    }
  }

  async #rest(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const rested = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, ms);
    });
    await Promise.race([rested, this.#stopping.promise]);
    clearTimeout(timer);
  }
}
