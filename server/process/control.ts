/** The processes of one installation, and how they reach each other: HTTP on a Unix socket that only the
 * service's own user may open, and between nodes on a port. What they ask is in call.ts. */
import { createHash, timingSafeEqual } from "node:crypto";
import { chmodSync, rmSync } from "node:fs";

/** The other process could not be reached: it is not running, or just starting. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";

  /** Whether nothing of the request can have reached it. */
  get isUnsent(): boolean {
    const { cause } = this;
    return cause instanceof Error && "code" in cause && unsentCodes.has(String(cause.code));
  }
}

/** Errors of `fetch` before there is a connection. */
const unsentCodes: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT", "ENOTFOUND", "EHOSTUNREACH"]);

/** A process of the service that answers requests, on this machine or another. */
export interface Peer {
  /** @throws Unreachable */
  fetch(path: string, init?: BunFetchRequestInit): Promise<Response>;
}

/** The other process refused or failed; the message is the one it gave. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  /** Whether the call was refused with a reason that is meant for the user. */
  readonly isRefusal: boolean;
  /** Of a change that was based on another version than this one. */
  readonly currentVersion: number | undefined;

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly isRefusal?: boolean;
      readonly currentVersion?: number | undefined;
    } = {},
  ) {
    super(message, options);
    this.isRefusal = options.isRefusal ?? false;
    this.currentVersion = options.currentVersion;
  }
}

/** The other process went away before its answer had ended. */
export class AnswerBroken extends CallFailed {}

/**
 * Answers requests on a Unix socket that only the service's own user may open. An answer may be silent for as
 * long as its work takes. `server.timeout(request, 0)` does not do that: it ends with the first byte of a
 * streamed answer, and the default of ten seconds applies again.
 */
export function serveSocket(
  socket: string,
  answer: (request: Request) => Response | Promise<Response>,
  error: (error: Error) => Response | undefined = () => undefined,
): Bun.Server<undefined> {
  freeSocket(socket);
  // The types know of it on ports only.
  const patience: object = { idleTimeout: 0 };
  const server = Bun.serve({ unix: socket, fetch: (request) => answer(request), error, ...patience });
  protectSocket(socket);
  return server;
}

/** Sends a request to another process. @throws Unreachable */
export async function fetchSocket(
  socket: string,
  path: string,
  init: BunFetchRequestInit = {},
): Promise<Response> {
  try {
    // Long work is silent for longer than the client's five minutes.
    return await fetch(`http://localhost${path}`, { timeout: false, ...init, unix: socket });
  } catch (error) {
    throw new Unreachable("the service cannot be reached on its socket", { cause: error });
  }
}

/** The process behind a Unix socket. */
export function socketPeer(socket: string): Peer {
  return { fetch: (path, init) => fetchSocket(socket, path, init) };
}

/** Header with the id of the node that has to answer, for work that only this node can do. */
const wantedHeader = "Rekindle-Node";
/** The answer of another one: HTTP's "Misdirected Request". */
const misdirected = 421;

/**
 * A process of another node. A request throws CallFailed when a node other than `wanted` answers.
 * @param key the secret with which nodes authenticate
 * @param wanted the id of the node that has to answer; left out when any node can
 */
export function nodePeer(url: string, key: string, wanted?: string): Peer {
  return {
    fetch: async (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set("Authorization", `Bearer ${key}`);
      if (wanted !== undefined) headers.set(wantedHeader, wanted);
      const response = await fetch(url + path, { timeout: false, ...init, headers }).catch((error) => {
        throw new Unreachable("the other node cannot be reached", { cause: error });
      });
      if (response.status === misdirected) throw new CallFailed(await response.text(), { isRefusal: true });
      return response;
    },
  };
}

/**
 * Answers requests of other nodes on a port. @param key the secret that they have to know, and the node's own
 * id
 * @throws Error when the port cannot be had
 */
export function serveNodes(
  address: {
    readonly hostname: string;
    readonly port: number;
    /** PEM. */
    readonly tls?: { readonly cert: string; readonly key: string };
  },
  { key, id }: { readonly key: string; readonly id: string },
  answer: (request: Request) => Response | Promise<Response>,
  error: (error: Error) => Response,
): Bun.Server<undefined> {
  const expected = createHash("sha256").update(`Bearer ${key}`).digest();
  const patience = { idleTimeout: 0, maxRequestBodySize: 64 * 1024 * 1024 };
  return Bun.serve({
    ...address,
    ...patience,
    error,
    fetch: (request) => {
      const given = createHash("sha256")
        .update(request.headers.get("Authorization") ?? "")
        .digest();
      if (!timingSafeEqual(given, expected)) return new Response("no key", { status: 401 });
      if ((request.headers.get(wantedHeader) ?? id) === id) return answer(request);
      return new Response(sameAddress, { status: misdirected });
    },
  });
}

const sameAddress =
  "another node answers at the NODE_URL of the one that leads: set each to an address of its own, under which others reach it.";

/** Removes the socket of a killed process, so that the path can be bound again. */
function freeSocket(socket: string): void {
  rmSync(socket, { force: true });
}

/** Only the service's own user may connect. */
function protectSocket(socket: string): void {
  chmodSync(socket, 0o600);
}
