/** The parts that tests of assistants share: the official client, and what a tool answers. */

import { expect } from "bun:test";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import type { ToolAnswer } from "../../server/features/assistants/answer.ts";
import type { Server } from "../server.ts";

export const protocols = ["2025-11-25", "2026-07-28"] as const;
export type Protocol = (typeof protocols)[number];

/** The client, as it speaks one version of the protocol. */
export async function clientOver(transport: Transport, protocol: Protocol): Promise<Client> {
  const versionNegotiation = { mode: protocol === "2025-11-25" ? "legacy" : { pin: protocol } } as const;
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation });
  await client.connect(transport);
  return client;
}

/** The client over HTTP. */
export function httpClient(server: Server, key: string, protocol: Protocol): Promise<Client> {
  const headers = { Authorization: `Bearer ${key}` };
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
    requestInit: { headers },
  });
  return clientOver(transport, protocol);
}

/** A result as it came. */
export interface Result {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: unknown;
}

/** Calls a tool, once more where five calls a second were too many. */
export async function called(client: Client, name: string, input: object = {}): Promise<Result> {
  for (;;) {
    const result = await client.callTool({ name, arguments: { ...input } });
    const [first] = Array.isArray(result.content) ? result.content : [];
    const text = first?.type === "text" ? first.text : "";
    const isError = result.isError === true;
    if (isError && text.startsWith("Too many calls")) {
      // The limit is by the second.
      await Bun.sleep(1_000);
      continue;
    }
    return { isError, text, structured: result.structuredContent };
  }
}

/** The answer of a tool. */
export async function answered(client: Client, name: string, input: object = {}): Promise<ToolAnswer> {
  const { isError, text, structured } = await called(client, name, input);
  expect([name, isError, isError ? text : ""]).toEqual([name, false, ""]);
  expect(JSON.parse(text)).toEqual(structured);
  return JSON.parse(text) as ToolAnswer;
}

/** The rows of an answer as objects. */
export function objectsOf({ columns, rows }: ToolAnswer): Record<string, unknown>[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

/** The facts of an answer by their names. */
export function factsIn({ rows }: ToolAnswer): Record<string, unknown> {
  return Object.fromEntries(rows.map(([name, value]) => [String(name), value]));
}

/** A raw request to /mcp. */
export function rawRequest(
  server: Server,
  headers: Record<string, string>,
  body: unknown = { jsonrpc: "2.0", id: 1, method: "ping" },
): Promise<Response> {
  return fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}
