/** A live item as a command that sends it again, and JSON as a reader likes it. */
import type { LiveItem } from "../../../contract/live.ts";

type Sent = Pick<LiveItem, "path" | "batch" | "payload" | "payloadCharacters" | "idempotencyKey">;

/** The command for a POSIX shell, with a placeholder for the token. Undefined when a part of the request is
 * not known. */
export function curlOf(
  { path, batch, payload, payloadCharacters, idempotencyKey }: Sent,
  origin: string,
): string | undefined {
  if (payload === null || lengthOf(payload, batch) !== payloadCharacters) return undefined;
  const body = batch === null ? payload : `{"batch":[${payload}]}`;
  const headers = [
    "Authorization: Bearer rk-…",
    "Content-Type: application/json",
    ...(idempotencyKey !== null && idempotencyKey !== "" ? [`Idempotency-Key: ${idempotencyKey}`] : []),
  ];
  return [
    `curl -X POST ${quoted(`${origin}${path}`)}`,
    ...headers.map((header) => `  -H ${quoted(header)}`),
    `  --data-raw ${quoted(body)}`,
  ].join(" \\\n");
}

/** Of a single request bytes are counted, of an item of a batch characters. */
function lengthOf(payload: string, batch: LiveItem["batch"]): number {
  return batch === null ? new TextEncoder().encode(payload).length : payload.length;
}

/** The text in single quotes, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** JSON with line breaks, as long as that changes nothing: 1.0 and doubled keys stay as they were sent. */
export function readable(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text.trim() ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
