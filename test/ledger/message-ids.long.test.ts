/**
 * Remembered message ids against a map: random commits, tables that are sealed early, kills between any two
 * statements, restarts, and a clock that moves by hours. An id is a duplicate exactly for its 24 hours.
 */
import { expect, test } from "bun:test";
import type { MessageKey } from "../../server/ledger/transact.ts";
import { Random } from "../../simulation/random.ts";
import { CrashingLedger } from "./crashing-ledger.ts";
import { look, messageOf, remember } from "./writes.ts";

const dayMs = 24 * 3_600_000;
/** Commit times are kept as seconds, rounded up. */
const toleranceMs = 1_000;

class World {
  readonly random: Random;
  readonly crashing: CrashingLedger;
  kills = 0;
  /** When each id was acknowledged last. */
  readonly #acknowledgedAtMs = new Map<string, number>();
  #nowMs = Date.UTC(2026, 0, 1);
  #made = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    const sizes = [1, 20, 100, 2_000];
    this.crashing = new CrashingLedger(() => ({
      clock: () => this.#nowMs,
      messageIdsPerRun: this.random.pick(sizes),
      journalHalfBytes: this.random.pick([300, 5_000, 1_000_000]),
    }));
  }

  async act(): Promise<void> {
    const action = this.random.pick([
      this.#commit,
      this.#commit,
      this.#commit,
      this.#check,
      this.#tidy,
      this.#reopen,
      this.#later,
    ]);
    await action.call(this);
  }

  #key(messageId: string): MessageKey {
    const kind = messageId.length % 2 === 0 ? "track" : "identify";
    return { organization: 1 + (messageId.length % 3), kind, messageId };
  }

  async #maybeKilled(doing: () => Promise<unknown>): Promise<"done" | "killed"> {
    if (!this.random.chance(0.5)) {
      await doing();
      return "done";
    }
    const killed = await this.crashing.killedWithin(this.random.between(1, 20), doing);
    if (killed) this.kills += 1;
    return killed ? "killed" : "done";
  }

  async #commit(): Promise<void> {
    const size = this.random.chance(0.03) ? this.random.between(1, 3_000) : this.random.between(1, 60);
    const fresh = Array.from({ length: size }, () => `message ${this.#made++}`);
    const again = [...this.#acknowledgedAtMs.keys()].filter(() => this.random.chance(0.01)).slice(0, 20);
    const keys = [...fresh, ...again].map((messageId) => this.#key(messageId));
    const nowMs = this.#nowMs;
    let duplicates: readonly MessageKey[] = [];
    const outcome = await this.#maybeKilled(async () => {
      duplicates = await remember(this.crashing.ledger, keys, nowMs);
    });
    const known = new Set(duplicates.map(({ messageId }) => messageId));
    for (const messageId of again) this.#expectRemembered(messageId, known.has(messageId));
    if (outcome === "killed") {
      // Either all of the commit is there or nothing.
      const probe = [this.#key(fresh[0] ?? "")];
      const stored = await look(this.crashing.ledger, { messageIds: probe }, (ledger) =>
        probe.map((key) => messageOf(ledger, key).remembered),
      );
      if (!stored.includes(true)) return;
    }
    for (const { messageId } of keys) {
      if (!known.has(messageId)) this.#acknowledgedAtMs.set(messageId, nowMs);
    }
  }

  async #check(): Promise<void> {
    const known = [...this.#acknowledgedAtMs.keys()];
    const strangers = Array.from({ length: 200 }, (_, at) => `stranger ${at}`);
    const messageIds = [...known, ...strangers].map((messageId) => this.#key(messageId));
    const remembered = await look(this.crashing.ledger, { messageIds }, (stored) =>
      messageIds.map((key) => messageOf(stored, key).remembered),
    );
    for (const [at, messageId] of known.entries()) this.#expectRemembered(messageId, remembered[at] === true);
    expect(remembered.slice(known.length)).not.toContain(true);
  }

  #expectRemembered(messageId: string, remembered: boolean): void {
    const ageMs = this.#nowMs - (this.#acknowledgedAtMs.get(messageId) ?? Number.NEGATIVE_INFINITY);
    if (ageMs < dayMs && !remembered) throw new Error(`${messageId} was forgotten after ${ageMs} ms`);
    if (ageMs >= dayMs + toleranceMs && remembered) {
      throw new Error(`${messageId} is still remembered after ${ageMs} ms`);
    }
  }

  async #tidy(): Promise<void> {
    await this.#maybeKilled(() => this.crashing.ledger.tidy(this.#nowMs));
  }

  async #reopen(): Promise<void> {
    await this.crashing.reopen();
    await this.#check();
  }

  async #later(): Promise<void> {
    this.#nowMs += this.random.pick([1, 999, 60_000, 3_600_000, 5 * 3_600_000]);
  }

  async finishAndCheck(): Promise<void> {
    await this.#check();
    await this.crashing.ledger.tidy(this.#nowMs);
    await this.#reopen();
  }
}

const savedSeeds = [1, 2, 3];
const newSeed = Date.now() % 2 ** 31;

for (const seed of [...savedSeeds, newSeed]) {
  test(`a message id is a duplicate exactly for 24 hours, whatever is killed when (seed ${seed})`, async () => {
    const world = new World(seed);
    try {
      await world.crashing.open();
      for (let action = 0; action < 250; action++) await world.act();
      await world.finishAndCheck();
      expect(world.kills).toBeGreaterThan(0);
    } finally {
      await world.crashing.remove();
    }
  });
}
