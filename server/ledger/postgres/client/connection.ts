/**
 * One connection to PostgreSQL, over `pg`. It is lost once: whatever is sent down it then fails, and so does what waits
 * for an answer. It is never opened again under somebody's hands, so that no half of a transaction
 * can end up on another.
 */
import { Client, type ClientConfig } from "pg";
import { Batch, type Prepared, type Waiting } from "./batch.ts";
import type { Answer, Sent } from "./statement.ts";

/** The server gives up a statement earlier: who is silent for longer is not there any more. */
const silentAfterMs = 2_000;

export interface ConnectionOptions {
  readonly url: string;
  /** Until it is open. */
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

  /** @throws when there is no such server, it does not let us in, or it takes too long */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const client = new Client(configOf(options));
    let connection: Connection | undefined;
    // Without a listener an error that comes while nobody waits would end the process.
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

  /** Sends a statement together with whatever else is sent in this turn, or waits behind what is under way. Those of one
   * turn go in the order in which they were written in the code, whoever is waited for first: locks before reads. */
  send(sent: Sent): Promise<Answer<readonly object[]>> {
    if (this.#isLost) return Promise.reject(new Error("The connection to PostgreSQL is lost."));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...sent, resolve, reject });
      // After all that is ready to run has run, so that what is sent beside it comes along.
      if (this.#waiting.length === 1 && !this.#isBusy) process.nextTick(() => this.#flush());
    });
  }

  /** Runs a text of several statements that bind nothing; nothing else may be under way. */
  async script(text: string): Promise<void> {
    await this.#client.query(text);
  }

  /** Whoever waits for an answer waits for ever, until the connection is given back. */
  waitForEver(): void {
    this.#answeredWithinMs = Number.POSITIVE_INFINITY;
  }

  givenBack(): void {
    this.#answeredWithinMs = this.#limitMs;
  }

  /** Ends it once what was sent is done. */
  async close(): Promise<void> {
    this.#isLost = true;
    await this.#client.end().catch(() => undefined);
  }

  /** Ends it at once; who waits for an answer gets an error. */
  destroy(): void {
    this.#isLost = true;
    clearTimeout(this.#silence);
    // The client has a socket from its beginning, and nothing else ends one that does not answer.
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

/** Said when the connection is open, as PgBouncer refuses or drops them before. */
function settingsOf({ statementTimeoutMs }: ConnectionOptions): string {
  const settings = {
    statement_timeout: statementTimeoutMs,
    // Shorter than a statement: whoever waits for a lock has to give up before whoever waits for the statement.
    lock_timeout: Math.ceil(statementTimeoutMs / 2),
    idle_in_transaction_session_timeout: 10_000,
    // An acknowledgement means that it is on disk, whatever the server's default is.
    synchronous_commit: "on",
    timezone: "'UTC'",
    client_min_messages: "warning",
  };
  return Object.entries(settings)
    .map(([name, value]) => `SET ${name} = ${value};`)
    .join(" ");
}
