/** The connections of a process. Their number is bounded, and so is the wait for one. */

import { waitUpTo } from "../../process/wait-up-to.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";

/** Connections are renewed after this time. Prepared statements last as long as the connection, also those of
 * dropped tables. */
const renewedAfterMs = 30 * 60_000;

export class Pool {
  readonly #options: ConnectionOptions;
  readonly #idle: Connection[] = [];
  readonly #taken = new Set<Connection>();
  /** The number of further connections that may be in use. */
  #free: number;
  /** Callers that wait for a connection, in their order. */
  #waiters: (() => void)[] = [];
  #isEnded = false;
  #emptied: (() => void) | undefined;

  constructor(options: ConnectionOptions, most: number) {
    this.#options = options;
    this.#free = most;
  }

  /** A connection for the caller alone, until it is returned.
   * @throws Error when none is free for 10 s, or none can be opened */
  async take(): Promise<Connection> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait();
    try {
      const connection = this.#idleOne() ?? (await this.#open());
      this.#taken.add(connection);
      return connection;
    } catch (error) {
      this.#freeOne();
      throw error;
    }
  }

  give(connection: Connection): void {
    this.#taken.delete(connection);
    connection.givenBack();
    if (this.#isEnded || connection.ageMs > renewedAfterMs) void connection.close();
    if (!connection.isLost) this.#idle.push(connection);
    this.#freeOne();
    if (this.#taken.size === 0) this.#emptied?.();
  }

  /** Closes every connection, those in use when they are returned. After the timeout the others are
   * destroyed: a server that does not answer never confirms the end. */
  async end(timeoutMs: number): Promise<void> {
    this.#isEnded = true;
    const idle = this.#idle.splice(0);
    const emptied = Promise.withResolvers<void>();
    this.#emptied = emptied.resolve;
    if (this.#taken.size === 0) emptied.resolve();
    const closed = Promise.all([emptied.promise, ...idle.map((connection) => connection.close())]);
    await waitUpTo(timeoutMs, closed);
    for (const connection of [...idle, ...this.#taken]) connection.destroy();
  }

  #idleOne(): Connection | undefined {
    let idle = this.#idle.pop();
    while (idle?.isLost) idle = this.#idle.pop();
    return idle;
  }

  async #open(): Promise<Connection> {
    if (this.#isEnded) throw new Error("The ledger is closed.");
    return await Connection.open(this.#options);
  }

  #freeOne(): void {
    const next = this.#waiters.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  #wait(): Promise<void> {
    const { openedWithinMs } = this.#options;
    return new Promise((resolve, reject) => {
      const waiter = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(new Error(`No connection to PostgreSQL was free for ${openedWithinMs / 1_000} s.`));
      }, openedWithinMs);
      this.#waiters.push(waiter);
    });
  }
}
