/** What stands between a client and the server and treats some of its requests badly. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to a request: it is answered with a status and does not reach the server, or reaches it and the
 * connection is cut before the answer comes back. */
export type Fate = number | "cut";

/** A proxy in front of a server. It has to be stopped. */
export class BadProxy {
  readonly url: string;
  /** What has happened to POST requests so far. */
  readonly happened: (Fate | "passed")[] = [];
  readonly #server: ReturnType<typeof createServer>;

  private constructor(server: ReturnType<typeof createServer>, happened: (Fate | "passed")[]) {
    this.#server = server;
    this.happened = happened;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** @param fates of the first POST requests; all later ones pass */
  static async start(target: string, fates: readonly Fate[]): Promise<BadProxy> {
    const waiting = [...fates];
    const happened: (Fate | "passed")[] = [];
    const server = createServer((request, response) => {
      const fate = request.method === "POST" ? waiting.shift() : undefined;
      if (request.method === "POST") happened.push(fate ?? "passed");
      treat(target, request, response, fate).catch(() => request.socket.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new BadProxy(server, happened);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

async function treat(
  target: string,
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
