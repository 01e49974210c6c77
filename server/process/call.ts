/**
 * Calls between processes: the functions of a service object are called by name, and both sides share its
 * type.
 *
 * A call is `POST /call` with the operation and its parameters as JSON. Two kinds of parameters, or of
 * members of one, are no JSON and are named by their place: a function, which is called with the progress of
 * the work, and an AbortSignal, which ends it. The answer is bytes, or lines of JSON: progress, and last a
 * result or an error.
 */
import { begun } from "./begun.ts";
import { CallFailed, type Peer, Unreachable } from "./control.ts";
import { messageOf } from "./message-of.ts";

/** A function of plain data that another process calls. It gives a promise, or bytes. */
export type Operation = (...parameters: never[]) => unknown;

/** Finds an operation by its path, such as `notes.all`; undefined when there is none. */
export type Operations = (path: string) => Operation | undefined;

interface Call {
  readonly operation: string;
  readonly parameters: unknown[];
  /** Places in the parameters, such as `0.progress`. */
  readonly progress?: string;
  readonly signal?: string;
}

type Line =
  | { readonly progress: unknown }
  | { readonly result: unknown }
  | { readonly error: string; readonly isRefusal: boolean; readonly currentVersion?: number | undefined };

const linesType = "application/x-ndjson";
const bytesType = "application/octet-stream";

/** Between two lines of progress of the same step; a piece of a table comes every millisecond. */
const progressEveryMs = 200;

/** Finds the functions of an object and of the objects in it, by their paths. */
export function operationsOf(services: object): Operations {
  return (path) => {
    const names = path.split(".");
    const last = names.pop() ?? "";
    let owner: unknown = services;
    for (const name of names) owner = memberOf(owner, name);
    const operation = memberOf(owner, last);
    return typeof operation === "function" ? operation.bind(owner) : undefined;
  };
}

/** A member that the object or its class has, not what every object has. */
function memberOf(owner: unknown, name: string): unknown {
  if (typeof owner !== "object" || owner === null || name in Object.prototype) return undefined;
  return Reflect.get(owner, name);
}

/** Answers a call with what the operation says, and another request with a sign of life. A failure is
 * answered with its message, which for a Refusal is meant for people. */
export async function answerCall(operations: Operations, request: Request): Promise<Response> {
  if (request.method !== "POST") return new Response("here");
  const { operation, parameters, progress, signal } = (await request.json()) as Call;
  const run = operations(operation);
  if (run === undefined) return new Response(`no operation ${operation}`, { status: 404 });
  const left = new AbortController();
  const gone = AbortSignal.any([request.signal, left.signal]);
  if (signal !== undefined) put(parameters, signal, gone);
  if (progress !== undefined)
    return answerLines(() => run(...(parameters as never[])), parameters, progress, { left, gone });
  try {
    const result = await run(...(parameters as never[]));
    if (!isBytes(result)) return linesOf([{ result }]);
    // The first bytes are waited for: a failure before them is an error and no empty success. One after them
    // breaks the connection.
    return new Response(await begun(result), { headers: { "Content-Type": bytesType } });
  } catch (error) {
    return linesOf([failureOf(error)]);
  }
}

const lineOf = (line: Line) =>
  `${JSON.stringify("result" in line ? { result: line.result ?? null } : line)}\n`;

function linesOf(lines: readonly Line[]): Response {
  return new Response(lines.map(lineOf).join(""), { headers: { "Content-Type": linesType } });
}

/** Answers with a line for each progress, while the work goes on. A caller that goes away ends it. */
function answerLines(
  run: () => unknown,
  parameters: unknown[],
  progress: string,
  { left, gone }: { readonly left: AbortController; readonly gone: AbortSignal },
): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (line: Line) => {
        if (!gone.aborted) controller.enqueue(encoder.encode(lineOf(line)));
      };
      put(
        parameters,
        progress,
        atMostEvery(progressEveryMs, (done) => send({ progress: done })),
      );
      // Not awaited: a stream gives nothing away before its start has ended.
      Promise.try(run)
        .then(
          (result) => send({ result }),
          (error: unknown) => send(failureOf(error)),
        )
        .finally(() => {
          if (!gone.aborted) controller.close();
        });
    },
    cancel: () => left.abort(),
  });
  return new Response(body, { headers: { "Content-Type": linesType } });
}

function failureOf(error: unknown): Line {
  const isRefusal = error instanceof Error && error.name === "Refusal";
  return { error: messageOf(error), isRefusal, currentVersion: currentVersionOf(error) };
}

/** The version that a refused change should have been based on; undefined for other errors. */
export function currentVersionOf(error: unknown): number | undefined {
  if (!(error instanceof Error && "currentVersion" in error)) return undefined;
  return typeof error.currentVersion === "number" ? error.currentVersion : undefined;
}

function put(parameters: unknown[], place: string, value: unknown): void {
  const [index = "", name] = place.split(".");
  if (name === undefined) parameters[Number(index)] = value;
  else (parameters[Number(index)] as Record<string, unknown>)[name] = value;
}

type Report = (progress: unknown) => void;

function atMostEvery(ms: number, report: Report): Report {
  let lastMs = Number.NEGATIVE_INFINITY;
  let lastStep: unknown;
  return (progress) => {
    const { step } = progress as { readonly step?: string };
    const nowMs = performance.now();
    if (step === lastStep && nowMs - lastMs < ms) return;
    lastMs = nowMs;
    lastStep = step;
    report(progress);
  };
}

/** What surrounds each call. @param call sends it; the signal gives it up */
type Around = (call: (gone: AbortSignal | undefined) => Promise<unknown>) => Promise<unknown>;

/** The services of another process: `remote(peer).notes.all(1)` calls its operation `notes.all`. A function
 * that gives bytes there gives them here, too. */
export function remote<Services extends object>(
  peer: Peer,
  around: Around = (call) => call(undefined),
): Services {
  return callable(peer, around, []) as Services;
}

function callable(peer: Peer, around: Around, path: readonly string[]): unknown {
  return new Proxy(() => undefined, {
    // What is awaited is asked for `then`.
    get: (_, name) =>
      typeof name === "symbol" || name === "then" ? undefined : callable(peer, around, [...path, name]),
    apply: (_, __, parameters) => {
      const called = around((gone) => call(peer, path.join("."), parameters, gone));
      return Object.assign(called, { [Symbol.asyncIterator]: () => bytesOf(called) });
    },
  });
}

async function* bytesOf(called: Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield* (await called) as AsyncIterable<Uint8Array>;
}

/** Whether a result is bytes that are still to be read. */
export function isBytes(result: unknown): result is AsyncIterable<Uint8Array> {
  return typeof result === "object" && result !== null && Symbol.asyncIterator in result;
}

/** Calls one operation of another process. @throws Unreachable, CallFailed */
async function call(
  peer: Peer,
  operation: string,
  parameters: readonly unknown[],
  gone: AbortSignal | undefined,
): Promise<unknown> {
  const { report, progress, stop, signal } = placesIn(parameters);
  const signals = [stop, gone].filter((one) => one !== undefined);
  try {
    const response = await peer.fetch("/call", {
      method: "POST",
      body: JSON.stringify({ operation, parameters, progress, signal }),
      signal: AbortSignal.any(signals),
    });
    const type = response.headers.get("Content-Type");
    if (type === bytesType) return response.body ?? [];
    if (type !== linesType) throw new CallFailed(await response.text());
    for await (const line of linesIn(response)) {
      if ("progress" in line) report?.(line.progress);
      else if ("error" in line) throw new CallFailed(line.error, line);
      else return line.result ?? undefined;
    }
  } catch (error) {
    if (stop?.aborted) throw stop.reason;
    if (error instanceof CallFailed || error instanceof Unreachable) throw error;
    throw new Unreachable("the service went away while it answered", { cause: error });
  }
  throw new Unreachable("the service went away while it answered");
}

interface Places {
  report?: Report;
  progress?: string;
  stop?: AbortSignal;
  signal?: string;
}

function placesIn(parameters: readonly unknown[]): Places {
  const places: Places = {};
  const look = (value: unknown, place: string) => {
    if (typeof value === "function") Object.assign(places, { report: value, progress: place });
    if (value instanceof AbortSignal) Object.assign(places, { stop: value, signal: place });
  };
  for (const [index, parameter] of parameters.entries()) {
    look(parameter, String(index));
    if (typeof parameter !== "object" || parameter === null || Array.isArray(parameter)) continue;
    for (const [name, value] of Object.entries(parameter)) look(value, `${index}.${name}`);
  }
  return places;
}

async function* linesIn(response: Response): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of response.body ?? []) {
    const lines = (text + decoder.decode(piece, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}
