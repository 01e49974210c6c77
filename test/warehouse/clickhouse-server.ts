/**
 * A server with ClickHouse's HTTP interface and chDB behind it, for tests of a warehouse by HTTP. It is
 * strict where ClickHouse is strict, and a test can make it fail as servers, networks and proxies do. A
 * process has one chDB, so a process has one of these.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type EngineOptions, TestEngine } from "./clickhouse-engine.ts";
import { ClickHouseException, type ClickHouseQuery, readQuery } from "./clickhouse-request.ts";

/** The fault of one request. */
export type Fault =
  /** Nothing is ever answered, and nothing is done. */
  | { readonly kind: "hang" }
  /** A proxy answers in the server's place. */
  | { readonly kind: "proxy"; readonly status: number }
  /** The connection ends before anything is done. */
  | { readonly kind: "refuse" }
  /** It is done, and the connection ends instead of an answer. */
  | { readonly kind: "lose" }
  /** The connection ends after so many bytes of the answer. */
  | { readonly kind: "cut"; readonly afterBytes: number }
  /** This is answered, and nothing is done. */
  | { readonly kind: "answer"; readonly body: string }
  /** The engine fails in its own way. */
  | { readonly kind: "fail"; readonly code: number; readonly text: string };

interface Planned {
  readonly of: RegExp;
  readonly fault: Fault;
  times: number;
}

export interface ClickHouseServerOptions extends EngineOptions {
  readonly user?: string;
  readonly password?: string;
  /** False for a server whose test does not read `queries`. */
  readonly keepsQueries?: boolean;
}

export class ClickHouseTestServer {
  readonly user: string;
  readonly password: string;
  /** Every query that came, as it came. */
  readonly queries: ClickHouseQuery[] = [];
  readonly #engine: TestEngine;
  readonly #keepsQueries: boolean;
  #planned: Planned[] = [];
  #server: Server | undefined;
  #port = 0;

  constructor({
    user = "rekindle",
    password = "secret:/é",
    keepsQueries = true,
    ...engine
  }: ClickHouseServerOptions) {
    this.#keepsQueries = keepsQueries;
    this.user = user;
    this.password = password;
    this.#engine = new TestEngine(engine);
  }

  /** The address with user and password. */
  url(database = "rekindle"): string {
    const login = `${encodeURIComponent(this.user)}:${encodeURIComponent(this.password)}`;
    return `http://${login}@${address}:${this.#port}/${database}`;
  }

  /** Listens. After leave() it uses the same port again. */
  async listen(): Promise<this> {
    const server = createServer((request, response) => void this.#serve(request, response));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.on("error", reject).listen(this.#port, address, resolve);
    await promise;
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
    return this;
  }

  /** Nothing listens any more, and every connection is cut. */
  async leave(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  }

  async close(): Promise<void> {
    await this.leave();
    await this.#engine.close();
  }

  /** The next queries of this kind fail so. */
  plan(of: RegExp, fault: Fault, times = 1): void {
    this.#planned.push({ of, fault, times });
  }

  /** Forgets planned faults that have not happened. */
  forget(): void {
    this.#planned = [];
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const cut = () => {
      request.socket.destroy();
    };
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const query = readQuery(request.url ?? "/", request.headers, Buffer.concat(chunks));
      if (this.#keepsQueries) this.queries.push(query);
      this.#refuseStrangers(request);
      const fault = this.#faultFor(query.sql);
      switch (fault?.kind) {
        case "hang":
          return;
        case "refuse":
          return cut();
        case "proxy":
          response.writeHead(fault.status, { "Content-Type": "text/html" }).end("<html>Bad Gateway</html>");
          return;
        case "answer":
          response.end(fault.body);
          return;
        case "fail":
          throw new ClickHouseException(fault.code, "PLANNED", fault.text);
        case "lose":
          for await (const _ of this.#engine.run(query));
          return cut();
      }
      await this.#answer(query, response, fault?.afterBytes ?? Number.POSITIVE_INFINITY);
    } catch (error) {
      if (!(error instanceof ClickHouseException)) return cut();
      if (response.headersSent) return cut();
      response
        .writeHead(statusOf(error.code), { "X-ClickHouse-Exception-Code": String(error.code) })
        .end(`${error.message}\n`);
    }
  }

  async #answer(query: ClickHouseQuery, response: ServerResponse, cutAfterBytes: number): Promise<void> {
    const tag = crypto.randomUUID().replaceAll("-", "").slice(0, 16);
    const headers = { "X-ClickHouse-Exception-Tag": tag, "X-ClickHouse-Query-Id": query.queryId };
    const { settings } = query;
    if (settings.has("readonly") && settings.get("cancel_http_readonly_queries_on_client_close") === "1") {
      response.once("close", () => void this.#engine.stop(query.queryId));
    }
    let held: Buffer[] = [];
    let heldBytes = 0;
    try {
      for await (const chunk of this.#engine.run(query)) {
        if (response.destroyed) return;
        held.push(chunk);
        heldBytes += chunk.length;
        if (heldBytes >= cutAfterBytes) {
          if (!response.headersSent) response.writeHead(200, headers);
          response.write(Buffer.concat(held).subarray(0, cutAfterBytes));
          return endConnection(response);
        }
        if (query.waitEnd || heldBytes < bufferBytes) continue;
        if (!response.headersSent) response.writeHead(200, headers);
        if (!response.write(Buffer.concat(held))) await drained(response);
        held = [];
        heldBytes = 0;
      }
    } catch (error) {
      if (!(error instanceof ClickHouseException) || !response.headersSent) throw error;
      response.write(exceptionBlock(tag, error.message));
      return endConnection(response);
    }
    if (!response.headersSent) response.writeHead(200, headers);
    response.end(Buffer.concat(held));
  }

  #refuseStrangers({ headers }: IncomingMessage): void {
    const given = (name: string) => Buffer.from(String(headers[name] ?? ""), "latin1").toString();
    if (given("x-clickhouse-user") === this.user && given("x-clickhouse-key") === this.password) return;
    throw new ClickHouseException(
      516,
      "AUTHENTICATION_FAILED",
      `${given("x-clickhouse-user")}: Authentication failed`,
    );
  }

  #faultFor(sql: string): Fault | undefined {
    const planned = this.#planned.find(({ of, times }) => times > 0 && of.test(sql));
    if (planned === undefined) return undefined;
    planned.times -= 1;
    return planned.fault;
  }
}

/** This process's own address, so that no other process takes the port while the server is away. */
const address = `127.${[1 + ((process.pid >> 16) % 254), (process.pid >> 8) & 255, process.pid & 255].join(".")}`;

/** Bytes in this buffer are dropped when a query fails. If none were sent before, the status shows the
 * error. */
const bufferBytes = 64 * 1024;

/** As ClickHouse writes it, 25.11 and later. */
function exceptionBlock(tag: string, message: string): string {
  const text = `${message}\n`;
  return `\r\n__exception__\r\n${tag}\r\n${text}${Buffer.byteLength(text)} ${tag}\r\n__exception__\r\n`;
}

/** Ends the connection without the end of the answer, after what was written. */
function endConnection(response: ServerResponse): void {
  response.socket?.end();
}

function drained(response: ServerResponse): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.on("drain", resolve).on("close", resolve);
  return promise.finally(() => response.off("drain", resolve).off("close", resolve));
}

function statusOf(code: number): number {
  if (code === 516) return 403;
  if (code === 60 || code === 81) return 404;
  if (code === 62 || code === 115 || code === 456) return 400;
  if (code === 159) return 408;
  return 500;
}
