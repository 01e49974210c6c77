/** Connections on which tests write bytes as they like, and read what comes back. */
import { connect, type Socket } from "node:net";
import type { Server } from "../server.ts";

export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The answers at the start of a text, as far as they are whole. One without a declared length has no body:
 * so it is with 100, 204, and with what Bun's parser refuses. Answers to HEAD cannot be read like this. */
function answersIn(text: string): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; ; ) {
    const headEnd = text.indexOf("\r\n\r\n", at);
    if (headEnd < 0) return answers;
    const head = text.slice(at, headEnd);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (Number.isNaN(status)) throw new Error(`this is no answer: ${JSON.stringify(head.slice(0, 80))}`);
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    const end = headEnd + 4 + length;
    if (text.length < end) return answers;
    answers.push({ status, head, body: text.slice(headEnd + 4, end) });
    at = end;
  }
}

/** A connection to a server's port. */
export class RawConnection {
  /** Resolves when the server has closed the connection, or reset it. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  #received = "";
  #isClosed = false;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        this.#isClosed = true;
        this.#changed.resolve();
        resolve();
      });
    });
    // The server cuts off a client that sends nonsense while it is still sending. "close" follows.
    socket.on("error", () => {});
    // Half-open, so that a test can end its side and still listen.
    socket.on("end", () => socket.destroy());
    socket.on("data", (chunk) => {
      this.#received += chunk.toString("latin1");
      this.#changed.resolve();
    });
  }

  /** Connects. */
  static async open(server: Server): Promise<RawConnection> {
    const { hostname, port } = new URL(server.url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.setNoDelay(true);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new RawConnection(socket);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The received text so far. */
  get received(): string {
    return this.#received;
  }

  /** The whole answers that came so far. */
  get answers(): readonly Answer[] {
    return answersIn(this.received);
  }

  get statuses(): readonly number[] {
    return this.answers.map(({ status }) => status);
  }

  write(text: string | Uint8Array): void {
    this.#socket.write(typeof text === "string" ? Buffer.from(text, "latin1") : text);
  }

  /** Waits until so many answers are there, or the server has closed the connection. */
  async answered(count: number): Promise<void> {
    while (this.answers.length < count && !this.#isClosed) {
      await this.#changed.promise;
      if (!this.#isClosed) this.#changed = Promise.withResolvers();
    }
  }

  /** Says that nothing more will be sent, and goes on listening. */
  sayNoMore(): void {
    this.#socket.end();
  }

  /** Leaves without a word. */
  leave(): void {
    this.#socket.destroy();
  }
}

/** A request's head, of its lines. */
export function head(...lines: readonly string[]): string {
  return [...lines, "", ""].join("\r\n");
}

/**
 * Sends bytes, waits for the answers that they should get, then sends a proper request behind them. Returns
 * the statuses of all, and "closed" when the server closed the connection before the proper one.
 */
export async function exchange(
  server: Server,
  bytes: string,
  expectedAnswers: number,
): Promise<(number | "closed")[]> {
  const connection = await RawConnection.open(server);
  try {
    connection.write(bytes);
    await connection.answered(expectedAnswers);
    connection.write(head("GET /healthz HTTP/1.1", "Host: a", "Connection: close"));
    await connection.closed;
    const statuses = connection.statuses;
    return connection.answers.at(-1)?.body === "ok\n" ? [...statuses] : [...statuses, "closed"];
  } finally {
    connection.leave();
  }
}
