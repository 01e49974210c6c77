/**
 * ClickHouse's HTTP interface: one request, one query. An answer is either complete or an error with
 * ClickHouse's code. Errors between us and the server (connection refused, cut off, no answer, a proxy's own
 * answer) have the code
 * 210. That code does not blame the rows, so the loader sends its batch again.
 *
 * Uses Node's `http`, because the server closes the connection right after an exception in the middle of an
 * answer. Bun's `fetch` then drops the last bytes with the message (measured with Bun 1.4.5).
 */
import http from "node:http";
import https from "node:https";
import { Refusal } from "../../../contract/refusal.ts";
import { isDecodable } from "../../config.ts";
import { ExceptionInBody, untilException } from "./exception-block.ts";
import { networkErrorCode } from "./query-watch.ts";
import { WarehouseError } from "./warehouse.ts";

/** The address of a server, the user and the database. */
export interface ClickHouseServer {
  /** `http://host:8123` */
  readonly origin: string;
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** ClickHouse's settings; the engine refuses those that it does not know. */
export type Settings = Readonly<Record<string, number | string>>;

export interface ClickHouseRequest {
  readonly sql: string;
  /** The texts of `param_…`. */
  readonly parameters?: readonly (readonly [string, string])[];
  readonly settings: Settings;
  /** Left out where the database may not be there yet. */
  readonly database?: string;
  readonly queryId: string;
  /** The rows of an INSERT, compressed with zstd. */
  readonly body?: Uint8Array;
  /** Whether the request may be sent a second time. When the server closes a kept connection at the moment of
   * its use, it is unknown whether the query ran. */
  readonly mayRepeat: boolean;
  /** Ends the waiting; not the query. */
  readonly signal?: AbortSignal;
}

const databaseNames = /^[A-Za-z_][\w-]{0,99}$/;

/** Reads `http(s)://user:password@host:8123/database`. @throws Refusal that explains the mistake, without the
 * password */
export function parseClickHouseUrl(text: string): ClickHouseServer {
  const url = URL.canParse(text) && isDecodable(text) ? new URL(text) : undefined;
  const database = url === undefined ? "" : decodeURIComponent(url.pathname.slice(1)) || "rekindle";
  const isUsable = /^https?:$/.test(url?.protocol ?? "") && url?.hostname !== "" && url?.search === "";
  if (url === undefined || !isUsable || !databaseNames.test(database)) {
    throw new Refusal(
      "the address of ClickHouse cannot be used: it has the form http://user:password@host:8123/database, https:// with TLS, and a % in the password is written %25.",
    );
  }
  return {
    origin: url.origin,
    user: decodeURIComponent(url.username) || "default",
    password: decodeURIComponent(url.password),
    database,
  };
}

/** Connections to one server. */
export class ClickHouseHttp {
  readonly #server: ClickHouseServer;
  readonly #mayChange: () => boolean;
  readonly #kept: http.Agent;
  readonly #unkept: http.Agent;

  /** @param mayChange false when nothing that changes anything may be sent any more */
  constructor(server: ClickHouseServer, mayChange: () => boolean = () => true) {
    this.#server = server;
    this.#mayChange = mayChange;
    const { Agent } = server.origin.startsWith("https:") ? https : http;
    this.#kept = new Agent({ keepAlive: true });
    this.#unkept = new Agent({ keepAlive: false });
  }

  /** The server's address, without user and password. */
  get origin(): string {
    return this.#server.origin;
  }

  /** Sends a request and yields the answer's bytes as they come.
   * @throws WarehouseError, also after some bytes; the signal's reason when it is aborted with a
   * WarehouseError */
  async *ask(request: ClickHouseRequest): AsyncIterable<Uint8Array> {
    try {
      const answer = await this.#send(request);
      const { statusCode = 0, headers } = answer;
      const code = Number(headers["x-clickhouse-exception-code"] ?? 0);
      if (statusCode !== 200 || code !== 0) throw await this.#refused(answer, code);
      const tag = headers["x-clickhouse-exception-tag"];
      yield* typeof tag === "string" ? untilException(answer, tag) : answer;
    } catch (error) {
      const reason: unknown = request.signal?.aborted ? request.signal.reason : undefined;
      if (reason instanceof WarehouseError) throw reason;
      throw this.#warehouseError(error);
    }
  }

  /** Closes the connections that are kept. */
  close(): void {
    this.#kept.destroy();
    this.#unkept.destroy();
  }

  async #send(request: ClickHouseRequest): Promise<http.IncomingMessage> {
    try {
      return await this.#sendOnce(request, request.mayRepeat ? this.#kept : this.#unkept);
    } catch (error) {
      if (!request.mayRepeat || !isReset(error) || request.signal?.aborted) throw error;
      return this.#sendOnce(request, this.#unkept);
    }
  }

  #sendOnce(request: ClickHouseRequest, agent: http.Agent): Promise<http.IncomingMessage> {
    const { user, password, origin } = this.#server;
    const { type, body } = bodyOf(request);
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
    const sending = (origin.startsWith("https:") ? https : http).request(`${origin}/?${urlOf(request)}`, {
      method: "POST",
      agent,
      headers: {
        "X-ClickHouse-User": encodeHeader(user),
        "X-ClickHouse-Key": encodeHeader(password),
        "Content-Length": body.byteLength,
        ...type,
      },
      ...(request.signal && { signal: request.signal }),
    });
    // Waiting for a reader and connecting take an unknown time, so this is checked right before the bytes
    // leave.
    const write = () => {
      if (isChange(request) && !this.#mayChange()) sending.destroy(lateError());
      else sending.end(body);
    };
    const connected = origin.startsWith("https:") ? "secureConnect" : "connect";
    sending.on("socket", (socket) => {
      if (socket.connecting) socket.once(connected, write);
      else write();
    });
    sending.on("response", resolve).on("error", reject);
    return promise;
  }

  /** The error of an answer with a status other than 200, or with an exception in its headers. */
  async #refused(answer: http.IncomingMessage, headerCode: number): Promise<WarehouseError> {
    let text = "";
    for await (const chunk of answer) {
      text += chunk;
      if (text.length > maxMessageLength) break;
    }
    const code = headerCode || codeOf(text);
    if (code !== 0) return new WarehouseError(code, text.trim());
    if (answer.statusCode === 413) {
      return this.#unreachable(
        "a proxy in front of it answers HTTP 413, because a body is too large: allow 48 MB (client_max_body_size in nginx)",
      );
    }
    const said = text.slice(0, 200).replace(/\s+/g, " ").trim();
    return this.#unreachable(`it answers with HTTP ${answer.statusCode}: ${said || "nothing more"}`);
  }

  #warehouseError(error: unknown): unknown {
    if (error instanceof WarehouseError) return error;
    if (error instanceof ExceptionInBody) {
      return new WarehouseError(codeOf(error.message) || networkErrorCode, error.message, { cause: error });
    }
    const said = error instanceof Error && "code" in error ? String(error.code) : String(error);
    return this.#unreachable(reasons[said] ?? said, error);
  }

  #unreachable(why: string, cause?: unknown): WarehouseError {
    return new WarehouseError(networkErrorCode, `ClickHouse at ${this.origin} cannot be used: ${why}`, {
      cause,
    });
  }
}

const maxMessageLength = 64 * 1024;

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there (ECONNREFUSED)",
  ECONNRESET: "the connection was cut off (ECONNRESET)",
  ENOTFOUND: "its name is not known (ENOTFOUND)",
};

/** The code in `Code: 241. DB::Exception: …`; 0 when the text has none. */
function codeOf(text: string): number {
  return Number(/^Code: (\d+)\./.exec(text)?.[1] ?? 0);
}

/** Reads and KILL QUERY may be repeated, and insert nothing. */
function isChange({ mayRepeat, body }: ClickHouseRequest): boolean {
  return !mayRepeat || body !== undefined;
}

/** Has the network code, which does not blame the rows. */
function lateError(): WarehouseError {
  return new WarehouseError(
    networkErrorCode,
    "This node does not lead any more, so it may not change the warehouse.",
  );
}

function isReset(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function urlOf({ sql, settings, database, queryId, body }: ClickHouseRequest): URLSearchParams {
  const url = new URLSearchParams({ query_id: queryId });
  if (database !== undefined) url.set("database", database);
  for (const [name, value] of Object.entries(settings)) url.set(name, String(value));
  if (body !== undefined) url.set("query", sql);
  return url;
}

/** A query and its parameters are a form, as proxies refuse long addresses. */
function bodyOf({ sql, parameters = [], body }: ClickHouseRequest) {
  if (body !== undefined) return { type: { "Content-Encoding": "zstd" }, body };
  const boundary = crypto.randomUUID();
  const parts = [["query", sql] as const, ...parameters].map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return {
    type: { "Content-Type": `multipart/form-data; boundary=${boundary}` },
    body: Buffer.from(`${parts.join("")}--${boundary}--\r\n`),
  };
}

/** A header's bytes are written as Latin-1, and the server reads UTF-8. */
function encodeHeader(text: string): string {
  return Buffer.from(text).toString("latin1");
}
