/**
 * Calls between the processes of one installation: JSON over HTTP on a Unix socket that only the service's
 * own user may open. The functions of a service object are called by name; both sides share its type.
 */
import { chmodSync, rmSync } from "node:fs";

/** Asynchronous functions of plain data, by the name under which another process calls them. */
export type Operations = ReadonlyMap<string, (...parameters: never[]) => Promise<unknown>>;

interface Call {
  readonly operation: string;
  readonly parameters: readonly unknown[];
}

/** The other process could not be reached: it is not running, or just starting. */
export class Unreachable extends Error {
  override readonly name = "Unreachable";
}

/** The other process refused or failed; the message is the one it gave. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  /** Whether it was refused, with a reason for the person who asked. */
  readonly isRefusal: boolean;

  constructor(message: string, options: ErrorOptions & { readonly isRefusal?: boolean } = {}) {
    super(message, options);
    this.isRefusal = options.isRefusal ?? false;
  }
}

/** The other process went away before its answer had ended. */
export class AnswerBroken extends CallFailed {}

/**
 * Answers requests on a Unix socket that only the service's own user may open. An answer may be silent for as long as
 * its work takes: `server.timeout(request, 0)` would end with the first byte of a streamed answer, after which the
 * default of ten seconds applies again.
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

/** Answers a `POST /call` from a table of operations, and anything else with a sign of life. A failure is
 * answered with its message, which for a Refusal is meant for people. */
export async function answerCall(operations: Operations, request: Request): Promise<Response> {
  if (request.method !== "POST") return new Response("here");
  const { operation, parameters } = (await request.json()) as Call;
  const run = operations.get(operation);
  if (run === undefined) return Response.json({ error: `no operation ${operation}` }, { status: 404 });
  try {
    const result = await run(...(parameters as never[]));
    return Response.json({ result: result ?? null });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const isRefusal = error instanceof Error && error.name === "Refusal";
    return Response.json({ error: message, isRefusal }, { status: 422 });
  }
}

/** Calls one operation of another process. @throws Unreachable, CallFailed */
async function call(socket: string, operation: string, parameters: readonly unknown[]): Promise<unknown> {
  const response = await fetchSocket(socket, "/call", {
    method: "POST",
    body: JSON.stringify({ operation, parameters } satisfies Call),
  });
  const answer = await readAnswer(response);
  if (answer.error !== undefined) {
    throw new CallFailed(answer.error, { isRefusal: answer.isRefusal ?? false });
  }
  return answer.result ?? undefined;
}

interface Answer {
  readonly result?: unknown;
  readonly error?: string;
  readonly isRefusal?: boolean;
}

async function readAnswer(response: Response): Promise<Answer> {
  try {
    return (await response.json()) as Answer;
  } catch (error) {
    throw new Unreachable("the service went away while it answered", { cause: error });
  }
}

/** Asks a path of another process. @throws Unreachable */
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

/** Makes a stand-in for a service of another process: each of its functions becomes a call. */
export function remoteService<Shape extends object>(
  socket: string,
  prefix: string,
  names: readonly (keyof Shape & string)[],
): Shape {
  const entries = names.map((name) => [
    name,
    (...parameters: unknown[]) => call(socket, `${prefix}.${name}`, parameters),
  ]);
  return Object.fromEntries(entries) as Shape;
}

/** Removes what a killed process left, so that the path can be bound again. */
function freeSocket(socket: string): void {
  rmSync(socket, { force: true });
}

/** Keeps everybody but the service's own user out. */
function protectSocket(socket: string): void {
  chmodSync(socket, 0o600);
}
