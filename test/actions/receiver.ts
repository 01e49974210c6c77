/** A receiver of messages: a real HTTP server that answers as the path says, and keeps what it got. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Got {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

export interface Receiver {
  readonly port: number;
  /** For ALLOW_PRIVATE_DESTINATIONS: the name `hooks.internal` at the receiver's port. */
  readonly allowed: string;
  readonly got: readonly Got[];
  /** `/hang` never answers, `/drip` never ends, `/cut` closes the connection within the body, `/endless`
   * sends without end, `/404` answers 404. `/switch` changes the protocol and says nothing more, `/interim`
   * sends answers of 1xx without end, `/hints` one before its answer. */
  address(path: string): string;
  stop(): void;
}

/** Starts a receiver on a port of its own. */
export async function startReceiver(): Promise<Receiver> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const { url: path = "/" } = request;
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      got.push({ path, headers: request.headers as Record<string, string>, body });
      if (path === "/hang") return;
      const { socket } = request;
      if (path === "/switch") {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n");
      } else if (path === "/interim") {
        const more = () => {
          if (socket.destroyed) return;
          socket.write("HTTP/1.1 100 Continue\r\n\r\n".repeat(10));
          setImmediate(more);
        };
        socket.on("error", () => undefined);
        more();
      } else if (path === "/hints") {
        response.writeEarlyHints({ link: "</a.css>; rel=preload" }, () => response.end("status 200"));
      } else if (path === "/drip") {
        response.writeHead(200);
        const timer = setInterval(() => response.write("."), 20);
        response.on("close", () => clearInterval(timer));
      } else if (path === "/cut") {
        response.writeHead(200, { "content-length": "100" });
        response.write("begun", () => setTimeout(() => response.destroy(), 50));
      } else if (path === "/endless") {
        response.writeHead(200);
        const more = () => {
          while (response.write("x".repeat(10_000)));
        };
        response.on("drain", more);
        more();
      } else {
        const status = Number(/\d+/.exec(path)?.[0] ?? 200);
        response.writeHead(status, status === 301 ? { location: "/200" } : { "retry-after": "7" });
        response.end(`status ${status}`);
      }
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    got,
    allowed: `hooks.internal:${port}=127.0.0.1`,
    address: (path) => `http://hooks.internal:${port}${path}`,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
