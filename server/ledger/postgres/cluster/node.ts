/**
 * This process as a node: it says every two seconds that it lives, and looks several times a second what has changed and
 * who else lives. It has connections of its own: what it says must not wait behind the work of the others.
 *
 * What was looked up before the last look may have changed since. So nothing that is remembered is believed when the last
 * look that succeeded is too long ago: a token that is revoked is refused everywhere within a second, also where the
 * ledger cannot be reached.
 */

import { randomUUID } from "node:crypto";
import type { Logger } from "../../../process/process.ts";
import { messageOf } from "../../../process/process.ts";
import type { ChangeHooks, LiveNode, NodeRole } from "../../ports/nodes.ts";
import { openPool, type Sql } from "../client/connect.ts";
import { knownForm } from "../client/migrations.ts";
import { answerWithin, NoAnswer } from "../client/no-answer.ts";
import { bothClocks } from "./both-clocks.ts";
import { type ErasedName, erasedNames } from "./erased-names.ts";
import { type LiveItemRow, newLive, sendLive } from "./live-items.ts";
import { beat, forgetNode, type Look, liveSeconds, look, nodeKey, unsettled } from "./nodes.ts";

const lookEveryMs = 300;
const beatEveryMs = 2_000;
/** What was remembered is believed for so long after a look began. */
const believedMs = 900;
/** A statement that takes longer has lost its connection: it is closed, and another opened. */
const patienceMs = 3_000;
/** Then others may take this node for dead, and it begins no write. */
const unheardMs = (liveSeconds - 2) * 1_000;
const settledPollMs = 100;

export interface NodeOptions {
  /** Of the database. */
  readonly databaseUrl: string;
  readonly role: NodeRole;
  /** Where other nodes reach this one. */
  readonly nodeUrl: string | null;
  readonly version: string;
  readonly log: Logger;
}

export class ClusterNode {
  readonly id = randomUUID();
  readonly #options: NodeOptions;
  #sql: Sql;
  #look: Look = { version: 0, form: 0, asked: 0, nodes: [] };
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  /** By the clock that never jumps, and by the one that goes on while the machine sleeps. */
  #heardAtMs = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };
  /** The last change of which the hooks have heard. */
  #knownVersion = 0;
  #settledVersion = 0;
  /** How often counts had been asked for when the hooks last heard, and when all was written down. */
  #heardAsked = 0;
  #writtenDown = 0;
  #watches: readonly number[] = [];
  #hooks: ChangeHooks | undefined;
  #onNodes: () => void = () => undefined;
  #timers: ReturnType<typeof setInterval>[] = [];
  #failure: string | undefined;
  #hasLeft = false;
  /** What is under way. */
  #looking: Promise<void> | undefined;
  #beating: Promise<void> | undefined;
  /** What the leader says of its work, as JSON; null when this node does not lead. */
  leaderSays: () => string | null = () => null;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.#sql = openOwnPool(options.databaseUrl);
  }

  /** Begins to live. Resolves when others may know of it. */
  async start(): Promise<void> {
    const started = bothClocks();
    await beat(this.#sql, this.#said());
    this.#heardAtMs = started;
    await this.look();
    this.#timers = [setInterval(() => this.look(), lookEveryMs), setInterval(() => this.beat(), beatEveryMs)];
  }

  /** Calls these when something has changed. Before, nothing may be remembered. */
  whenChanged(hooks: ChangeHooks): void {
    this.#hooks = hooks;
    this.#knownVersion = 0;
    this.#changed(this.#look.version);
    this.#asked(this.#look.asked);
  }

  /** Calls this after every look. */
  whenLooked(onNodes: () => void): void {
    this.#onNodes = onNodes;
    onNodes();
  }

  /** The connections of its own, for what must not wait behind other work. */
  get sql(): Sql {
    return this.#sql;
  }

  /** All that live, this one among them. */
  get live(): readonly LiveNode[] {
    return this.#look.nodes;
  }

  /** How many intake processes live, this one among them; 1 at least. */
  get liveIntakes(): number {
    return Math.max(1, this.live.filter(({ role }) => role === "intake").length);
  }

  /** The node that leads the work on the warehouse. */
  get leader(): LiveNode | undefined {
    return this.live.find(({ leaderSays }) => leaderSays !== null);
  }

  /** Why the ledger cannot be reached; undefined while all is well. */
  get failure(): string | undefined {
    return performance.now() - this.#lookedAtMs < patienceMs ? undefined : (this.#failure ?? "no answer");
  }

  /** Whether what was looked up before may be believed. */
  readonly isFresh = (): boolean => performance.now() - this.#lookedAtMs < believedMs;

  /** What is to be done when a newer node has changed the ledger's tables: this one writes nothing any more. */
  get outdated(): string | undefined {
    if (this.#look.form <= knownForm) return undefined;
    return "the ledger was brought to a newer form: upgrade this node";
  }

  /** @throws Error when others may take this node for dead: what it was going to write was admitted too long ago; or
   * when it does not know the ledger's form */
  readonly refuseUnheard = (): void => {
    if (this.outdated !== undefined) throw new Error(this.outdated);
    const { monotonic, wall } = bothClocks();
    const heard = this.#heardAtMs;
    if (monotonic - heard.monotonic < unheardMs && wall - heard.wall < unheardMs) return;
    throw new Error("This node was not heard of for too long, and writes nothing until it is.");
  };

  /** The secret with which nodes ask each other. */
  key(): Promise<string> {
    return nodeKey(this.#sql);
  }

  /** Who was erased a moment ago, and may still be remembered here. */
  erased(): Promise<readonly ErasedName[]> {
    return erasedNames(this.#sql);
  }

  /** Shows messages of the live view to the other nodes. */
  sendLive(rows: readonly LiveItemRow[]): Promise<void> {
    return sendLive(this.#sql, this.id, rows);
  }

  /** Messages of these organizations that other nodes have shown since `after`: see `newLive`. */
  newLive(after: number | null, organizations: readonly number[]): ReturnType<typeof newLive> {
    return newLive(this.#sql, { node: this.id, after, organizations });
  }

  /** Tells the others whose live view somebody has open here. */
  watch(organizations: readonly number[]): void {
    const before = this.#watches.join();
    this.#watches = organizations;
    if (organizations.join() !== before) this.beat();
  }

  /** Resolves when no node writes any more what it admitted before the last change. */
  async settledEverywhere(): Promise<void> {
    const startedMs = performance.now();
    for (let waiting = 1; ; waiting += 1) {
      const nodes = await unsettled(this.#sql);
      if (nodes.length === 0) return;
      if (waiting % 100 === 0) {
        const seconds = Math.round((performance.now() - startedMs) / 1_000);
        this.#options.log.warn({ nodes, seconds }, "waiting for nodes to know of a change");
      }
      await Bun.sleep(settledPollMs);
    }
  }

  /** Resolves when no other node goes by what was so before the last change: they say so, or what they looked up before is
   * too old to be believed. */
  async knownEverywhere(): Promise<void> {
    const endMs = performance.now() + believedMs;
    const others = () => unsettled(this.#sql).then((ids) => ids.some((id) => id !== this.id));
    // Where PostgreSQL does not answer, time does it as well.
    while (performance.now() < endMs && (await answerWithin(patienceMs, others()).catch(() => true)))
      await Bun.sleep(settledPollMs);
  }

  /** Says good-bye: others ask this node nothing more. */
  async leave(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#hasLeft = true;
    await this.#beating;
    await answerWithin(patienceMs, forgetNode(this.#sql, this.id)).catch(() => undefined);
  }

  /** Closes its connections. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#sql.end({ timeout: 1 });
  }

  /** Looks what has changed; one look at a time. */
  look(): Promise<void> {
    this.#looking ??= this.#try(async (sql) => {
      const startedMs = performance.now();
      this.#look = await answerWithin(patienceMs, look(sql));
      this.#lookedAtMs = startedMs;
      this.#changed(this.#look.version);
      this.#asked(this.#look.asked);
      this.#onNodes();
    }).finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Says that it lives; one beat at a time, and none when it has left: what it still had to say would bring it back. */
  beat(): Promise<void> {
    if (this.#hasLeft) return Promise.resolve();
    this.#beating ??= this.#try(async (sql) => {
      const started = bothClocks();
      await answerWithin(patienceMs, beat(sql, this.#said()));
      this.#heardAtMs = started;
    }).finally(() => {
      this.#beating = undefined;
    });
    return this.#beating;
  }

  #said() {
    const { role, nodeUrl: url, version } = this.#options;
    return {
      id: this.id,
      role,
      url,
      version,
      settledVersion: this.#settledVersion,
      writtenDown: this.#writtenDown,
      leaderSays: this.leaderSays(),
      watches: this.#watches,
    };
  }

  #changed(version: number): void {
    const hooks = this.#hooks;
    if (hooks === undefined || version === this.#knownVersion) return;
    this.#knownVersion = version;
    hooks.forget();
    hooks.settled().then(
      () => this.#settled(version),
      (error) => {
        this.#options.log.warn({ err: error }, "a change will be looked at again");
        this.#knownVersion = 0;
      },
    );
  }

  #asked(asked: number): void {
    const hooks = this.#hooks;
    if (hooks === undefined || asked === this.#heardAsked) return;
    this.#heardAsked = asked;
    hooks.writeDown().then(
      () => {
        this.#writtenDown = Math.max(this.#writtenDown, asked);
        return this.#sayAgain();
      },
      // The next look tries again.
      () => {
        this.#heardAsked = 0;
      },
    );
  }

  #settled(version: number): Promise<void> {
    this.#settledVersion = Math.max(this.#settledVersion, version);
    return this.#sayAgain();
  }

  async #sayAgain(): Promise<void> {
    // One that is under way does not say so yet.
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

function openOwnPool(url: string): Sql {
  return openPool(url, { connections: 2, statementTimeoutMs: 5_000 });
}
