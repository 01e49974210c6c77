/**
 * Connections of the embedded engine, each lent to one query at a time, in turns: a second query on a busy
 * session would wait unseen.
 *
 * A session whose query did not run to its end is replaced. After an error the engine leaves the rows that
 * were already written in the session's output, and they appear in front of the NEXT query's answer (measured
 * with a query that timed out). A new session takes 0.6 ms.
 */
import type { Session } from "chdb";
import { type Asker, FairTurns, sharedPlaces } from "../../process/fair-turns.ts";

export class SessionPool {
  readonly #open: () => Session;
  /** A place without a session gets one at its turn. Opening may fail while memory is short, and a lost place
   * would never come back. */
  readonly #idle: (Session | undefined)[] = [];
  readonly #all = new Set<Session>();
  readonly #turns: FairTurns;

  /** Opens `size` sessions with the same function that later opens replacements. */
  constructor(size: number, open: () => Session) {
    this.#open = open;
    this.#turns = new FairTurns(sharedPlaces(size));
    for (let opened = 0; opened < size; opened += 1) this.#idle.push(this.#add());
  }

  /** Takes a session for one query; it has to be given back.
   * @param asker left out for the service's own work
   * @throws the reason of the asker's signal when it is aborted before */
  async acquire(asker?: Asker): Promise<Session> {
    await this.#turns.take(asker);
    const session = this.#idle.pop();
    if (session !== undefined) return session;
    try {
      return this.#add();
    } catch (error) {
      this.#free(undefined, asker);
      throw error;
    }
  }

  /** Gives a session back: `clean` when its query ran to its end. @param asker as it was acquired */
  release(session: Session, clean: boolean, asker?: Asker): void {
    if (!clean) {
      this.#all.delete(session);
      session.close();
    }
    this.#free(clean ? session : undefined, asker);
  }

  #free(place: Session | undefined, asker: Asker | undefined): void {
    this.#idle.push(place);
    this.#turns.giveBack(asker);
  }

  /** Runs one query with a session of its own. */
  async use<Result>(query: (session: Session) => Promise<Result>, asker?: Asker): Promise<Result> {
    const session = await this.acquire(asker);
    let clean = false;
    try {
      const result = await query(session);
      clean = true;
      return result;
    } finally {
      this.release(session, clean, asker);
    }
  }

  /** Refuses those that wait. A session in use is closed by the engine's binding when its work is over. */
  close(reason: Error): void {
    this.#turns.refuseWaiting(reason);
    for (const session of this.#all) session.close();
    this.#all.clear();
  }

  #add(): Session {
    const session = this.#open();
    this.#all.add(session);
    return session;
  }
}

/** The engine's library. It is loaded where it is used: mapped, it takes 140 MB of a process that only takes
 * writes. */
export type Engine = Pick<typeof import("chdb"), "Session" | "drainPending">;

/** How the engine is opened: the same for every session of a process, because they share one engine. */
export function sessionOpener(engine: Engine, folder: string, memoryBytes: number): () => Session {
  const connectionArgs = [
    // The caches are 5.4 GB by default; with these the process stays under 400 MB when idle.
    "--mark_cache_size=67108864",
    "--index_mark_cache_size=16777216",
    "--uncompressed_cache_size=0",
    `--max_server_memory_usage=${memoryBytes}`,
    // The least free memory for each thread of a query. With the engine's own 1 GiB, a query of ours had one
    // thread on every machine.
    "--max_threads_min_free_memory_per_thread=268435456",
    // How often the engine reads its resident memory for the limit above. By default this takes 0.2 % of a
    // core.
    "--memory_worker_period_ms=500",
    // Bound values are part of a statement. 200 exclusion rules of 1,000 characters can be 4.8 MB, and 256
    // KiB are the default.
    "--max_query_size=33554432",
    // No expressions as machine code. Compiling them took 10 % of the time of analysis while pages were read,
    // and saved nothing measurable in the retention of 3 million events.
    "--compile_expressions=0",
    "--compile_aggregate_expressions=0",
    "--compile_sort_description=0",
    "--session_timezone=UTC",
    "--output_format_json_quote_64bit_integers=0",
    "--output_format_json_escape_forward_slashes=0",
    // A mutation is a task for each part. With 4 places for tasks on 2 cores the engine pauses 0.1 to 1.1 s
    // whenever all are taken: 69 parts took 11 s, and take 0.5 s with 64 places. The shortest first: a task
    // that has not begun holds no memory.
    "--background_merges_mutations_concurrency_ratio=32",
    "--background_merges_mutations_scheduling_policy=shortest_task_first",
    // Statements that change stored rows answer when they have.
    "--mutations_sync=2",
    "--lightweight_deletes_sync=2",
  ];
  return () => new engine.Session(folder, { connectionArgs });
}
