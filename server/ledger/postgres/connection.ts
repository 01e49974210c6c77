/**
 * One connection to PostgreSQL, over `pg`. A broken connection is never reopened: pending and later
 * statements fail, so a transaction cannot span two connections.
 */
import { Client, type ClientConfig } from "pg";
import { Batch, type Prepared, type Waiting } from "./batch.ts";
import type { Answer, Sent } from "./statement.ts";

/** The server cancels a statement earlier. A connection without an answer for this much longer counts as
 * broken. */
const silentAfterMs = 2_000;

export interface ConnectionOptions {
  readonly url: string;
  /** The longest wait until it is open. */
  readonly openedWithinMs: number;
  readonly statementTimeoutMs: number;
}

export class Connection {
  readonly #client: Client;
  readonly #openedAtMs = performance.now();
  readonly #prepared: Prepared = new Map();
  #waiting: Waiting[] = [];
  #isBusy = false;
  #isLost = false;
  #silence: ReturnType<typeof setTimeout> | undefined;
  readonly #limitMs: number;
  #answeredWithinMs: number;

  private constructor(client: Client, answeredWithinMs: number) {
    this.#client = client;
    this.#limitMs = answeredWithinMs;
    this.#answeredWithinMs = answeredWithinMs;
    client.on("end", () => {
      this.#isLost = true;
    });
  }

  /** @throws Error when the server cannot be reached, refuses the login, or takes too long */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const client = new Client(configOf(options));
    let connection: Connection | undefined;
    // Without a listener an error between two statements would end the process.
    client.on("error", () => connection?.destroy());
    connection = new Connection(client, options.statementTimeoutMs + silentAfterMs);
    try {
      await client.connect();
      const late = setTimeout(() => connection?.destroy(), options.openedWithinMs);
      await client.query(settingsOf(options)).finally(() => clearTimeout(late));
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return connection;
  }

  /** Whether it can no longer be used. */
  get isLost(): boolean {
    return this.#isLost;
  }

  get ageMs(): number {
    return performance.now() - this.#openedAtMs;
  }

  /** Sends a statement with all others of this turn, after the statements that are under way. The order of a
   * turn is that of the code, independent of the order of the awaits: locks before reads. */
  send(sent: Sent): Promise<Answer<readonly object[]>> {
    if (this.#isLost) return Promise.reject(new Error("The connection to PostgreSQL is lost."));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...sent, resolve, reject });
      // It flushes after all code that is ready to run, so that the other statements of the turn are sent,
      // too.
      if (this.#waiting.length === 1 && !this.#isBusy) process.nextTick(() => this.#flush());
    });
  }

  /** Runs a text of several statements without values. No other statement may be under way. */
  async script(text: string): Promise<void> {
    await this.#client.query(text);
  }

  /** Waits for answers without a limit, until the connection returns to the pool. */
  waitWithoutLimit(): void {
    this.#answeredWithinMs = Number.POSITIVE_INFINITY;
  }

  givenBack(): void {
    this.#answeredWithinMs = this.#limitMs;
  }

  /** Closes it after the statements that were sent. */
  async close(): Promise<void> {
    this.#isLost = true;
    await this.#client.end().catch(() => undefined);
  }

  /** Closes it at once. Pending statements fail. */
  destroy(): void {
    this.#isLost = true;
    clearTimeout(this.#silence);
    // The client has a socket from the start. No other call closes a socket without an answer.
    this.#client.connection.stream.destroy();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(new Error("The connection to PostgreSQL is lost."));
  }

  #flush(): void {
    const waiting = this.#waiting.toSorted((one, other) => one.serial - other.serial);
    this.#waiting = [];
    if (waiting.length === 0) return;
    this.#isBusy = true;
    this.#listenForSilence();
    const ended = () => {
      clearTimeout(this.#silence);
      this.#isBusy = false;
      this.#flush();
    };
    this.#client.query(new Batch(waiting, this.#prepared, () => this.#listenForSilence(), ended));
  }

  #listenForSilence(): void {
    clearTimeout(this.#silence);
    if (this.#answeredWithinMs === Number.POSITIVE_INFINITY) return;
    this.#silence = setTimeout(() => this.destroy(), this.#answeredWithinMs);
  }
}

function configOf({ url, openedWithinMs }: ConnectionOptions): ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: openedWithinMs,
    keepAlive: true,
    application_name: "rekindle",
  };
}

/** Settings that are sent when the connection is open: PgBouncer rejects or drops them as parameters of the
 * start. */
function settingsOf({ statementTimeoutMs }: ConnectionOptions): string {
  const settings = {
    statement_timeout: statementTimeoutMs,
    // Shorter than for a statement, so that a wait for a lock ends with the error of a lock.
    lock_timeout: Math.ceil(statementTimeoutMs / 2),
    idle_in_transaction_session_timeout: 10_000,
    // An acknowledged write must be on disk, independent of the server's default.
    synchronous_commit: "on",
    timezone: "'UTC'",
    client_min_messages: "warning",
  };
  return Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value};`)
    .join(" ");
}
