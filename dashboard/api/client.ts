/** Asks the server and understands its answers: one error class, one place that knows headers and
 * addresses. */
import type { ApiErrorName } from "../../contract/errors.ts";
import type * as people from "../../contract/members.ts";
import { below } from "./base.ts";

// Only types come from the contract, so that no schema reaches the browser. The compiler checks these values.
const sessionHeader = { name: "X-Rekindle", value: "dashboard" } satisfies typeof people.sessionHeader;
/** The headers of a request that changes something. */
export const sessionHeaders: Readonly<Record<string, string>> = {
  Accept: "application/json",
  [sessionHeader.name]: sessionHeader.value,
};
const organizationParameter = "organization" satisfies typeof people.organizationParameter;

/** A failed request: an error of the server's closed list, or no answer of the server. Its message is the
 * API's, which may begin with the path of a field: pages show it by `errorSentence`. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly kind: ApiErrorName | "unreachable";
  /** The HTTP status, from the server or a proxy. 0 without an answer. */
  readonly status: number;
  /** Whole seconds after which a retry makes sense. Undefined when the server gave no time. */
  readonly retryAfterSeconds: number | undefined;
  constructor(kind: ApiFailure["kind"], message: string, status: number, retryAfterSeconds?: number) {
    super(message);
    this.kind = kind;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Whether the process that answers figures is on its way: asking again is all that is needed. */
  get isStarting(): boolean {
    return this.kind === "application_error" && this.retryAfterSeconds !== undefined;
  }
}

/** Values of parameters. Undefined and empty values are not sent. */
export type QueryValues = Readonly<Record<string, unknown>>;

/** The address of a path, without the base path: names after colons are replaced, parameters added in a
 * stable order. */
export function addressOf(
  path: string,
  parts: QueryValues,
  query: QueryValues,
  organization?: number,
): string {
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(parts[name])));
  const search = new URLSearchParams();
  if (organization !== undefined) search.set(organizationParameter, String(organization));
  for (const name of Object.keys(query).sort()) {
    const value = query[name];
    if (value !== undefined && value !== null && value !== "") search.set(name, textOf(value));
  }
  return search.size === 0 ? filled : `${filled}?${search}`;
}

/** A list is sent as JSON. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** Sends a request and returns the parsed JSON of its answer. Undefined for an answer without a body.
 * @throws ApiFailure */
export async function call(
  method: string,
  address: string,
  { body, signal }: { readonly body?: unknown; readonly signal?: AbortSignal } = {},
): Promise<unknown> {
  const headers: Record<string, string> =
    method === "GET" ? { Accept: "application/json" } : Object.assign({}, sessionHeaders);
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response: Response;
  let text = "";
  try {
    response = await fetch(below(address), {
      method,
      headers,
      credentials: "same-origin",
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable();
  }
  const answer = parsed(text);
  if (response.ok) return answer;
  throw failure(response, answer);
}

/** There was no answer. */
export function unreachable(): ApiFailure {
  return new ApiFailure("unreachable", "The server cannot be reached. Is it running, and are you online?", 0);
}

/** The failure that an unsuccessful answer describes. */
export async function failureOf(response: Response): Promise<ApiFailure> {
  return failure(response, parsed(await response.text()));
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function failure(response: Response, answer: unknown): ApiFailure {
  const seconds = secondsOf(response.headers.get("retry-after"), Date.now());
  if (isError(answer) && answer.statusCode === response.status) {
    return new ApiFailure(answer.name, answer.message, response.status, seconds);
  }
  const message = `Something between here and the server answered ${response.status}, and not the server itself.`;
  return new ApiFailure("unreachable", message, response.status, seconds);
}

interface ErrorAnswer {
  readonly message: string;
  readonly statusCode: number;
  readonly name: ApiErrorName;
}

function isError(answer: unknown): answer is ErrorAnswer {
  if (typeof answer !== "object" || answer === null) return false;
  const { message, statusCode, name } = answer as Readonly<Record<string, unknown>>;
  return typeof message === "string" && typeof statusCode === "number" && typeof name === "string";
}

/** The whole seconds that a `Retry-After` asks for: it has seconds, or a date (RFC 9110). Undefined without
 * either. */
export function secondsOf(retryAfter: string | null, nowMs: number): number | undefined {
  if (retryAfter === null) return undefined;
  if (/^\s*\d+\s*$/.test(retryAfter)) return Number(retryAfter);
  const atMs = Date.parse(retryAfter);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - nowMs) / 1_000));
}
