/** The stored text of an id: its kind, a space, and the id. */
import type { PersonId } from "./held-events.ts";

/** The text under which the id is stored. */
export function personText({ kind, id }: PersonId): string {
  return `${kind} ${id}`;
}

/** The id that was stored as this text. */
export function personOf(text: string): PersonId {
  const end = text.indexOf(" ");
  return { kind: text.slice(0, end) === "user" ? "user" : "visitor", id: text.slice(end + 1) };
}

/** The text by which the id of an erased account is recognized. */
export function accountText(accountId: string): string {
  return `account ${accountId}`;
}
