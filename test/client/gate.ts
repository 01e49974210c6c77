/** Stands between a client and a server, and does to requests what networks and proxies do to them. */
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** `pass`: nothing. `cut`: the server's answer is lost. `refuse`: the request is lost. `hang`: there is never
 * an answer. */
export type Mischief =
  | "pass"
  | "cut"
  | "refuse"
  | "hang"
  | { readonly delayMs: number }
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string };

/** A request as it came in. */
export interface Seen {
  readonly atMs: number;
  readonly bytes: number;
  readonly items: readonly Record<string, unknown>[];
}

export class Gate {
  readonly url: string;
  /** Every request, in order. */
  readonly seen: Seen[] = [];
  /** The treatment of the next requests, one after the other. Later requests get `always`. */
  next: Mischief[] = [];
  always: Mischief = "pass";
  /** Requests that pass wait for this, e.g. while a server starts. After a refused request the client would
   * wait longer and longer. */
  opened: Promise<unknown> = Promise.resolve();
  readonly #http: HttpServer;

  private constructor(http: HttpServer) {
    this.#http = http;
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  }

  /** Opens a gate before the server at this address. The gate takes any free port. */
  static async before(target: () => string): Promise<Gate> {
    const http = createServer((request, response) => void gate.#handle(request, response, target));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const gate = new Gate(http);
    return gate;
  }

  /** The messageIds of all requests, in the order in which they first came. */
  get messageIds(): string[] {
    return [...new Set(this.seen.flatMap(({ items }) => items.map(({ messageId }) => String(messageId))))];
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  async #handle(request: IncomingMessage, response: ServerResponse, target: () => string): Promise<void> {
    const body = await wholeBody(request);
    // The client took it back.
    if (body === undefined) return;
    const sent = JSON.parse(body.toString());
    this.seen.push({ atMs: Date.now(), bytes: body.length, items: sent.batch ?? [sent] });
    const mischief = this.next.shift() ?? this.always;
    if (mischief === "hang") return;
    if (mischief === "refuse") return void request.socket.destroy();
    if (typeof mischief === "object" && "status" in mischief) {
      response.writeHead(mischief.status, mischief.headers).end(mischief.body);
      return;
    }
    if (typeof mischief === "object") await Bun.sleep(mischief.delayMs);
    await this.#forward(request, body, response, target(), mischief === "cut");
  }

  async #forward(
    request: IncomingMessage,
    body: Buffer,
    response: ServerResponse,
    target: string,
    isCut: boolean,
  ): Promise<void> {
    try {
      await this.opened;
      const { authorization = "", "content-type": type = "" } = request.headers;
      const headers = { Authorization: authorization, "Content-Type": type };
      const answer = await fetch(target + request.url, { method: "POST", headers, body });
      const text = await answer.text();
      if (isCut) request.socket.destroy();
      else response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text);
    } catch {
      // The server is down, and the client has to see that.
      request.socket.destroy();
    }
  }
}

async function wholeBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return undefined;
  }
  return request.complete ? Buffer.concat(chunks) : undefined;
}
