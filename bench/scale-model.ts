/**
 * A discrete-event model of intake nodes on one PostgreSQL: what a group of events takes of each part is given, how the parts
 * wait for each other comes out. Pure: the same figures give the same answer.
 *
 * A node has one thread, a core may be everybody's or only the database's, and the log is written by one at a time for all
 * who wait for it then (group commit). Four round trips: BEGIN and reads, the writes, COMMIT, with work on both sides.
 */
import { Random } from "../simulation/random.ts";

/** What a group takes, in milliseconds, measured where nobody waits for anybody. */
export interface GroupCost {
  /** Processor time of the node's thread. */
  readonly nodeMs: number;
  /** Processor time of PostgreSQL. */
  readonly databaseMs: number;
  /** Of one sync of the log, however many wait for it. */
  readonly flushMs: number;
  /** What nobody works in: sockets, being woken. */
  readonly wayMs: number;
}

export interface Shape {
  readonly nodes: number;
  /** Groups that a node has under way at once. */
  readonly sendersOfNode: number;
  /** Whether the nodes have one thread together, as in a benchmark, or one each. */
  readonly threads: "one" | "each";
  readonly databaseCores: number;
  /** Whether the nodes work on the database's cores, too. */
  readonly isOneMachine: boolean;
}

export interface Outcome {
  readonly groupsPerSecond: number;
  readonly medianMs: number;
  /** Shares of the time in which each part worked. */
  readonly busy: { readonly thread: number; readonly cores: number; readonly log: number };
}

/** A part that serves so many at once; the others wait in the order in which they came. */
class Station {
  readonly #servers: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  workedMs = 0;

  constructor(servers: number) {
    this.#servers = servers;
  }

  take(use: () => void): void {
    if (this.#taken === this.#servers) {
      this.#waiting.push(use);
      return;
    }
    this.#taken += 1;
    use();
  }

  release(workedMs: number): void {
    this.workedMs += workedMs;
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}

class Model {
  readonly #events: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly #random = new Random(7);
  nowMs = 0;

  /** In about so long: between half and one and a half times. */
  after(ms: number, run: (tookMs: number) => void): void {
    const tookMs = ms * (0.5 + this.#random.next());
    const atMs = this.nowMs + tookMs;
    let low = 0;
    let high = this.#events.length;
    // Sorted with the next one last.
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#events[middle]?.atMs ?? 0) > atMs) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, { atMs, run: () => run(tookMs) });
  }

  runUntil(endMs: number): void {
    for (let next = this.#events.pop(); next !== undefined && next.atMs < endMs; next = this.#events.pop()) {
      this.nowMs = next.atMs;
      next.run();
    }
  }
}

const steps = 3;

/** Lets senders store groups, each the next one when its last is committed, for so many seconds of the model's time. */
export function simulate(cost: GroupCost, shape: Shape, seconds = 20): Outcome {
  const { nodes, sendersOfNode, threads, databaseCores, isOneMachine } = shape;
  const model = new Model();
  const cores = new Station(databaseCores);
  const threadOf = Array.from({ length: threads === "one" ? 1 : nodes }, () => new Station(1));
  const took: number[] = [];
  const log = logOf(model, cost.flushMs);

  const inNode = (thread: Station, then: () => void) =>
    thread.take(() => {
      const work = (core: Station | undefined) =>
        model.after(cost.nodeMs / (steps + 1), (tookMs) => {
          core?.release(tookMs);
          thread.release(tookMs);
          then();
        });
      if (isOneMachine) cores.take(() => work(cores));
      else work(undefined);
    });
  const inDatabase = (then: () => void) =>
    model.after(cost.wayMs / steps, () =>
      cores.take(() =>
        model.after(cost.databaseMs / steps, (tookMs) => {
          cores.release(tookMs);
          then();
        }),
      ),
    );
  const send = (thread: Station) => {
    const begunMs = model.nowMs;
    const step = (left: number) =>
      inNode(thread, () => {
        if (left > 0) {
          inDatabase(() => (left === 1 ? log.flush(() => step(0)) : step(left - 1)));
          return;
        }
        took.push(model.nowMs - begunMs);
        send(thread);
      });
    step(steps);
  };
  for (let sender = 0; sender < nodes * sendersOfNode; sender += 1) {
    const thread = threadOf[sender % threadOf.length];
    if (thread !== undefined) send(thread);
  }
  model.runUntil(seconds * 1_000);
  const share = (workedMs: number, of: number) => workedMs / (seconds * 1_000 * of);
  return {
    groupsPerSecond: took.length / seconds,
    medianMs: took.toSorted((a, b) => a - b)[took.length >> 1] ?? 0,
    busy: {
      thread: share(
        threadOf.reduce((sum, { workedMs }) => sum + workedMs, 0),
        threadOf.length,
      ),
      cores: share(cores.workedMs, databaseCores),
      log: share(log.workedMs(), 1),
    },
  };
}

/** Who comes while it is being synced waits for the next sync, together with all others who came. */
function logOf(model: Model, flushMs: number) {
  let waiting: (() => void)[] = [];
  let isBusy = false;
  let workedMs = 0;
  const begin = () => {
    isBusy = true;
    const served = waiting;
    waiting = [];
    model.after(flushMs, (tookMs) => {
      workedMs += tookMs;
      isBusy = false;
      for (const then of served) then();
      if (waiting.length > 0) begin();
    });
  };
  return {
    workedMs: () => workedMs,
    flush: (then: () => void) => {
      waiting.push(then);
      if (!isBusy) begin();
    },
  };
}
