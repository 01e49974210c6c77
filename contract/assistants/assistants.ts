/** Limits of assistants, and what they may write. Pages import it, so it imports no schema. */

export const assistantLimits = {
  /** Tool calls, resources and prompts of one key. */
  callsPerSecond: 5,
  writesPerHour: 30,
  /** Rows of an answer, where a call names no number. */
  rows: 25,
  mostRows: 200,
  /** Of an answer as JSON. */
  answerCharacters: 24_000,
  /** Of a text in a row. */
  textCharacters: 200,
  bodyBytes: 64 * 1024,
  /** For so long a change can be undone, and its idempotency key is remembered. */
  keptDays: 30,
  writesShown: 200,
} as const;

/** What an assistant may write. */
export const assistantWriteKinds = ["note", "task", "alert"] as const;
export type AssistantWriteKind = (typeof assistantWriteKinds)[number];

/** The author of what an assistant wrote. @param key the id of its read key */
export function assistantAuthor(key: number): string {
  return `assistant (key ${key})`;
}
