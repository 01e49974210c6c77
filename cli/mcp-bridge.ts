/** Passes messages of the Model Context Protocol from standard input on to a server's /mcp, for clients that
 * speak to a program only. */
import { isJsonObject, type JsonObject, objectOf } from "../contract/json.ts";

/** The server, and the key by which it is asked. */
export interface BridgedServer {
  /** The address of the service, without a slash at its end. */
  readonly url: string;
  readonly key: string;
}

/** Messages that wait for the server at once; the next line waits for one of them. */
const mostUnderWay = 16;

const versionKey = "io.modelcontextprotocol/protocolVersion";
const internalError = -32_603;
const parseError = -32_700;

/** Passes every line on, and writes each answer as a line. Resolves when the input has ended and everything
 * is answered. @param write gets a line without its end */
export async function bridge(
  server: BridgedServer,
  lines: AsyncIterable<string>,
  write: (line: string) => void,
): Promise<void> {
  const passing = new Passing(server, write);
  const underWay = new Set<Promise<void>>();
  for await (const line of lines) {
    if (line.trim() === "") continue;
    const passed: Promise<void> = passing.pass(line).finally(() => underWay.delete(passed));
    underWay.add(passed);
    if (underWay.size >= mostUnderWay) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

class Passing {
  readonly #server: BridgedServer;
  readonly #write: (line: string) => void;
  /** What both sides have agreed on, where messages do not say it themselves. */
  #version: string | undefined;

  constructor(server: BridgedServer, write: (line: string) => void) {
    this.#server = server;
    this.#write = write;
  }

  async pass(line: string): Promise<void> {
    const message = parsed(line);
    if (message === undefined) return this.#fail(null, parseError, "This line is no JSON object.");
    const { id } = message;
    try {
      const response = await fetch(`${this.#server.url}/mcp`, {
        method: "POST",
        headers: this.#headersOf(message),
        body: line,
      });
      for (const answer of messagesIn(response, await response.text())) {
        this.#learn(message, answer);
        this.#write(JSON.stringify(answer));
      }
      if (response.ok || id === undefined) return;
      if (response.status === 401) {
        this.#fail(
          id,
          internalError,
          "Rekindle refused the read key: make a new one under Settings, Assistants.",
        );
      }
    } catch {
      if (id === undefined) return;
      this.#fail(id, internalError, `Rekindle does not answer at ${this.#server.url}.`);
    }
  }

  #headersOf({ method, params }: JsonObject): Record<string, string> {
    const { name, uri, _meta } = objectOf(params);
    const own = objectOf(_meta)[versionKey];
    const headers = {
      Authorization: `Bearer ${this.#server.key}`,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    };
    if (typeof own !== "string") {
      return { ...headers, ...(this.#version !== undefined && { "MCP-Protocol-Version": this.#version }) };
    }
    const named = typeof name === "string" ? name : typeof uri === "string" ? uri : undefined;
    return {
      ...headers,
      "MCP-Protocol-Version": own,
      "Mcp-Method": String(method),
      ...(named !== undefined && { "Mcp-Name": headerValue(named) }),
    };
  }

  #learn({ method }: JsonObject, { result }: JsonObject): void {
    const { protocolVersion } = objectOf(result);
    if (method === "initialize" && typeof protocolVersion === "string") this.#version = protocolVersion;
  }

  #fail(id: unknown, code: number, message: string): void {
    this.#write(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The messages of an answer: one as JSON, or several as server-sent events. An answer of the service itself,
 * such as a 401, is no message. */
function messagesIn({ headers }: Response, text: string): JsonObject[] {
  const texts = headers.get("content-type")?.startsWith("text/event-stream")
    ? text.split("\n").flatMap((line) => (line.startsWith("data:") ? line.slice("data:".length) : []))
    : [text];
  return texts.flatMap((each) => {
    const message = parsed(each);
    return message?.jsonrpc === "2.0" ? [message] : [];
  });
}

/** A name as a header has it: other texts than plain ones are base64, as the protocol says. */
function headerValue(text: string): string {
  const isPlain = /^[!-~]+( +[!-~]+)*$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
