/**
 * What pages have said of a user or an account, as marks among the times of its fields: who first made it
 * known, and which fields a page said last. A page's token can be read by everybody, so a value that a server
 * says wins over a page's, whatever their times. Pure.
 */
import { createHash } from "node:crypto";
import type { FieldTimestamps } from "../../ledger/entities.ts";

/** All marks begin so. No field does. */
const prefix = "page ";
const dayMs = 86_400_000;

/** The time of a request, and the visitor that a page sent it for. */
export interface PageRequest {
  readonly receivedAtMs: number;
  readonly isBrowser?: boolean | undefined;
  /** The generated id of the browser, which nobody else can guess. */
  readonly visitor?: string | undefined;
  /** Whether an owner lets pages give users accounts that exist. */
  readonly mayJoin?: boolean | undefined;
}

/** The mark of the visitor under whose id a page first made the user or the account known. Its value is the
 * time. Undefined for a server. */
export function visitorMark({ isBrowser, visitor }: PageRequest): string | undefined {
  if (isBrowser !== true || visitor === undefined) return undefined;
  return `${prefix}visitor ${createHash("sha256").update(visitor).digest("hex").slice(0, 32)}`;
}

/** The mark of a field that a page said last. */
export function fieldMark(field: string): string {
  return `${prefix}field ${field}`;
}

/** Whether a key among the times of fields is a mark. */
export function isMark(key: string): boolean {
  return key.startsWith(prefix);
}

/** Whether a page first made the user or the account known under this visitor's id, within the last 24
 * hours. */
export function isOfVisit({ fieldTimestampsMs }: FieldTimestamps, request: PageRequest): boolean {
  const mark = visitorMark(request);
  const madeAtMs = mark === undefined ? undefined : fieldTimestampsMs[mark];
  return madeAtMs !== undefined && request.receivedAtMs - madeAtMs <= dayMs;
}

/** Whether a page said the field last. */
export function isSaidByPage({ fieldTimestampsMs }: FieldTimestamps, field: string): boolean {
  return Object.hasOwn(fieldTimestampsMs, fieldMark(field));
}

/** The fields that a page said last, as `FieldTimestamps` names them. */
export function fieldsOfPages({ fieldTimestampsMs }: FieldTimestamps): string[] {
  const beginning = fieldMark("");
  return Object.keys(fieldTimestampsMs)
    .filter((key) => key.startsWith(beginning))
    .map((key) => key.slice(beginning.length))
    .sort();
}
