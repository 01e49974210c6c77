/**
 * The inbox against a model: random actions, kills between any two statements, and in the end every
 * acknowledged row is in the warehouse exactly once. The warehouse here keeps the law of the real one: a
 * token is stored once, and a token that comes again with other rows is a loss.
 */
import { expect, test } from "bun:test";
import { settingUp } from "../../server/ledger/audit.ts";
import type { FrozenBatch, InboxRows } from "../../server/ledger/inbox.ts";
import { Random } from "../../simulation/random.ts";
import { CrashingLedger } from "./crashing-ledger.ts";
import { inboxRows, look, needs, user, writes } from "./writes.ts";

class ModelWarehouse {
  readonly rows: string[] = [];
  readonly #bodies = new Map<number, string>();

  insert(batch: FrozenBatch, body: string): void {
    const before = this.#bodies.get(batch.number);
    if (before === undefined) this.rows.push(...body.trimEnd().split("\n"));
    else if (before !== body) throw new Error(`the token of batch ${batch.number} came with other rows`);
    this.#bodies.set(batch.number, body);
  }
}

class World {
  readonly random: Random;
  readonly warehouse = new ModelWarehouse();
  readonly crashing: CrashingLedger;
  readonly acknowledged: string[] = [];
  /** Rows whose request was killed. They may be there, once. */
  readonly unanswered = new Set<string>();
  readonly users = new Map<string, { number: number; account: number }>();
  kills = 0;
  organization = 0;
  #nowMs = Date.UTC(2026, 0, 1);
  #made = 0;
  /** The batches that the loader froze last. They outlive the ledger's process. */
  #frozen: FrozenBatch[] = [];

  constructor(seed: number) {
    this.random = new Random(seed);
    this.crashing = new CrashingLedger(() => ({
      clock: () => this.#nowMs,
      inboxMaxRetainedBytes: this.random.pick([0, 500, 1_000_000]),
      knownUsersCapacity: this.random.pick([1, 8, 1_000]),
      journalHalfBytes: this.random.pick([100, 2_000, 1_000_000]),
    }));
  }

  async start(): Promise<void> {
    await this.crashing.open();
    const wanted = { name: "model", timezone: "UTC", nowMs: this.#nowMs };
    this.organization = (await this.crashing.ledger.organizations.create(wanted, settingUp)).id;
  }

  /** One random action. Now and then the ledger is killed in the middle of it. */
  async act(): Promise<void> {
    const action = this.random.pick([
      this.#append,
      this.#append,
      this.#append,
      this.#fail,
      this.#identify,
      this.#checkUsers,
      this.#freeze,
      this.#insert,
      this.#insert,
      this.#finish,
      this.#finish,
      this.#loadAll,
      this.#tidy,
      this.#tidy,
      this.#reopen,
    ]);
    await action.call(this);
  }

  async #maybeKilled(doing: () => Promise<unknown>): Promise<"done" | "killed"> {
    if (!this.random.chance(0.5)) {
      await doing();
      return "done";
    }
    // The shortest action has 6 moments. A kill that comes too late happens between two actions.
    const killed = await this.crashing.killedWithin(this.random.between(1, 14), doing);
    if (killed) this.kills += 1;
    return killed ? "killed" : "done";
  }

  #rows(): InboxRows[] {
    return Array.from({ length: this.random.between(1, 3) }, () => {
      const lines = Array.from({ length: this.random.between(1, 5) }, () => `row ${this.#made++}`);
      const table = this.random.pick(["events", "users"] as const);
      return inboxRows(lines, {
        table,
        year: this.random.pick([2025, 2026]),
        schema: this.random.pick([1, 2]),
      });
    });
  }

  async #append(): Promise<void> {
    const inbox = this.#rows();
    const lines = inbox.flatMap(({ body }) => body.trimEnd().split("\n"));
    const outcome = await this.#maybeKilled(() =>
      this.crashing.ledger.transact(needs({}), () => writes(this.#nowMs, { inbox })),
    );
    if (outcome === "done") this.acknowledged.push(...lines);
    else for (const line of lines) this.unanswered.add(line);
  }

  /** A new user, or a new account of one, and a row beside. */
  async #identify(): Promise<void> {
    const { wanted, previous } = this.#someUser();
    const line = `row ${this.#made++}`;
    const attempt = () =>
      this.crashing.ledger.transact(needs({ users: [wanted] }), () =>
        writes(this.#nowMs, { users: [wanted], inbox: [inboxRows([line])] }),
      );
    const outcome = await this.#maybeKilled(attempt);
    const after = { number: wanted.number, account: wanted.account };
    if (outcome === "done") {
      this.users.set(wanted.userId, after);
      this.acknowledged.push(`["${line}"]`);
      return;
    }
    this.unanswered.add(`["${line}"]`);
    const found = await look(this.crashing.ledger, { users: [wanted] }, (stored) =>
      stored.user(this.organization, wanted.userId),
    );
    const account = found?.account;
    expect([previous?.account, wanted.account]).toContain(account);
    if (account !== undefined) this.users.set(wanted.userId, { number: wanted.number, account });
  }

  /** A transaction that fails after everything was written: nothing of it may be seen again. */
  async #fail(): Promise<void> {
    const { wanted } = this.#someUser();
    const impossible = { organization: 1_000_000, utcDay: 1, events: 1, checksum: 1 };
    const attempt = this.crashing.ledger.transact(needs({ users: [wanted] }), () =>
      writes(this.#nowMs, { users: [wanted], inbox: [inboxRows(["never"])], dayCounts: [impossible] }),
    );
    await expect(attempt).rejects.toThrow();
    await this.#checkUsers();
  }

  #someUser() {
    const userId = `user ${this.random.between(1, 12)}`;
    const previous = this.users.get(userId);
    const number = previous?.number ?? this.users.size + 1;
    const account = this.random.between(1, 1_000_000);
    return { wanted: user(this.organization, userId, { number, account }), previous };
  }

  async #checkUsers(): Promise<void> {
    const known = Array.from({ length: 12 }, (_, at) => ({
      organization: this.organization,
      userId: `user ${at + 1}`,
    }));
    const found = await look(this.crashing.ledger, { known }, (stored) =>
      known.map(({ organization, userId }) => stored.known(organization, userId)),
    );
    expect(found).toEqual(known.map(({ userId }) => this.users.get(userId)));
  }

  async #freeze(): Promise<void> {
    let frozen: readonly FrozenBatch[] = [];
    const outcome = await this.#maybeKilled(async () => {
      frozen = await this.crashing.ledger.inbox.freeze(this.random.between(1, 40));
    });
    if (outcome === "done") this.#frozen = [...frozen];
  }

  async #insert(): Promise<void> {
    const [batch] = this.#frozen;
    if (batch === undefined) return;
    this.warehouse.insert(batch, (await this.crashing.ledger.inbox.read(batch)).toString());
    if (this.random.chance(0.5)) await this.#finishBatch(batch);
  }

  /** Finishes what is in the warehouse for certain: it is inserted again, as after a restart. */
  async #finish(): Promise<void> {
    const [batch] = this.#frozen;
    if (batch === undefined) return;
    this.warehouse.insert(batch, (await this.crashing.ledger.inbox.read(batch)).toString());
    await this.#finishBatch(batch);
  }

  async #finishBatch(batch: FrozenBatch): Promise<void> {
    const outcome = await this.#maybeKilled(() => this.crashing.ledger.inbox.finish(batch.number, []));
    if (outcome === "done") this.#frozen.shift();
    // The loader asks again: the batch may be finished or not.
    else this.#frozen = [];
  }

  async #loadAll(): Promise<void> {
    for (;;) {
      const frozen = await this.crashing.ledger.inbox.freeze(this.random.between(1, 100));
      this.#frozen = [...frozen];
      if (frozen.length === 0) return;
      while (this.#frozen.length > 0) await this.#finish();
    }
  }

  async #tidy(): Promise<void> {
    if (this.random.chance(0.5)) this.#nowMs += this.random.between(0, 7_200_000);
    await this.#maybeKilled(() => this.crashing.ledger.tidy(this.#nowMs));
  }

  async #reopen(): Promise<void> {
    const before = await this.crashing.ledger.inbox.backlog();
    await this.crashing.reopen();
    expect(await this.crashing.ledger.inbox.backlog()).toEqual(before);
  }

  async finishAndCheck(): Promise<void> {
    await this.#loadAll();
    expect(await this.crashing.ledger.inbox.backlog()).toMatchObject({ rows: 0, bytes: 0 });
    const stored = [...this.warehouse.rows].sort();
    const unanswered = stored.filter((row) => this.unanswered.has(row));
    expect(stored).toEqual([...this.acknowledged, ...new Set(unanswered)].sort());
  }
}

const savedSeeds = [1, 2, 3, 4];
const newSeed = Date.now() % 2 ** 31;

for (const seed of [...savedSeeds, newSeed]) {
  test(`every acknowledged row reaches the warehouse once, whatever is killed when (seed ${seed})`, async () => {
    const world = new World(seed);
    try {
      await world.start();
      for (let action = 0; action < 600; action++) await world.act();
      await world.finishAndCheck();
      expect(world.kills).toBeGreaterThan(0);
    } finally {
      await world.crashing.remove();
    }
  });
}
