/** A proxy between a client and the server that treats some requests badly. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The treatment of a request. A number is the status of an answer, and the request does not reach the
 * server. With "cut" it reaches the server, and the connection is cut before the answer comes back. */
export type Fate = number | "cut";

/** A proxy in front of a server. It has to be stopped. */
export class BadProxy {
  /** The treatment of all requests so far that send. */
  readonly happened: (Fate | "passed")[] = [];
  /** The server's address. Without one, every connection is cut. */
  target: string | undefined;
  readonly #server: ReturnType<typeof createServer>;

  private constructor(target: string, fates: readonly Fate[], method: string) {
    this.target = target;
    const waiting = [...fates];
    this.#server = createServer((request, response) => {
      const fate = request.method === method ? waiting.shift() : undefined;
      if (request.method === method) this.happened.push(fate ?? "passed");
      treat(this.target, request, response, fate).catch(() => request.socket.destroy());
    });
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** @param fates of the first requests that send. All later ones pass. @param method of requests that
   * send */
  static async start(target: string, fates: readonly Fate[], method = "POST"): Promise<BadProxy> {
    const proxy = new BadProxy(target, fates, method);
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
  const origin = {
    // Mixpanel's page sends with credentials, and hears nothing of an answer for all origins.
    "Access-Control-Allow-Origin": request.headers.origin ?? "*",
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Expose-Headers": "Retry-After",
  };
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
