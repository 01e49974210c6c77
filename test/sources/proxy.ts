/** What stands between a client and the server and treats some of its requests badly. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to a request: it is answered with a status and does not reach the server, or reaches it and the
 * connection is cut before the answer comes back. */
export type Fate = number | "cut";

/** A proxy in front of a server. It has to be stopped. */
export class BadProxy {
  /** What has happened to POST requests so far. */
  readonly happened: (Fate | "passed")[] = [];
  /** The server's address; while there is none every connection is cut. */
  target: string | undefined;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(target: string, fates: readonly Fate[]) {
    this.target = target;
    const waiting = [...fates];
    this.#server = createServer((request, response) => {
      const fate = request.method === "POST" ? waiting.shift() : undefined;
      if (request.method === "POST") this.happened.push(fate ?? "passed");
      treat(this.target, request, response, fate).catch(() => request.socket.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** @param fates of the first POST requests; all later ones pass */
  static async start(target: string, fates: readonly Fate[]): Promise<BadProxy> {
    const proxy = new BadProxy(target, fates);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function treat(
  target: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
  fate: Fate | undefined,
): Promise<void> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const origin = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After" };
  if (typeof fate === "number") {
    response.writeHead(fate, { ...origin, ...(fate === 429 && { "Retry-After": "1" }) });
    response.end();
    return;
  }
  if (target === undefined) throw new Error("there is no server");
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const answer = await fetch(target + request.url, {
    method: request.method ?? "GET",
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    ...(request.method === "POST" && { body: Buffer.concat(chunks) }),
    redirect: "manual",
  });
  const text = await answer.text();
  if (fate === "cut") {
    request.socket.destroy();
    return;
  }
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.end(text);
}
