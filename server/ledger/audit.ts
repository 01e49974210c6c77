/** The audit log: the changes of an organization, with actor and time. It never holds a secret or a user's
 * identity, because an erasure could not delete it there: a user or an account is a number at most. A store
 * writes a change and its entry in the same commit. */
import { assistantAuthor } from "../../contract/assistants/assistants.ts";
import type { AuditAction } from "../../contract/audit.ts";
import type { JsonObject } from "../../contract/json.ts";

/** The author of a change. */
export interface Actor {
  /** Null for the command line, a read key, and the service itself. */
  readonly person: { readonly id: number; readonly name: string } | null;
  /** The author as the history of settings shows it: `Ada (person 3)`, `command line`, `read key 3`. */
  readonly by: string;
  /** False: the change has no entry in the log. */
  readonly isLogged?: false;
}

/** A user of the machine's command line. */
export const commandLine: Actor = { person: null, by: "command line" };

/** The first start and the demonstration set up an organization. Its log is empty at first. */
export const settingUp: Actor = { ...commandLine, isLogged: false };

/** The service itself. */
export const serviceItself: Actor = { person: null, by: "the service" };

/** The holder of a read key. */
export function readKeyActor(id: number): Actor {
  return { person: null, by: `read key ${id}` };
}

/** An assistant that writes by a read key. */
export function assistantActor(key: number): Actor {
  return { person: null, by: assistantAuthor(key) };
}

/** Who wrote something, if it was no team member. */
export function authorOf({ person, by }: Actor): string | null {
  return person === null ? by : null;
}

/** A team member. People can choose their name, but not their number. */
export function personActor({ id, name }: { readonly id: number; readonly name: string }): Actor {
  return { person: { id, name }, by: `${name} (person ${id})` };
}

/** The content of an entry. */
export interface AuditNote {
  readonly action: AuditAction;
  /** The change as a sentence. */
  readonly summary: string;
  readonly detail: JsonObject;
}

export interface AuditEntry extends AuditNote {
  readonly organization: number;
  readonly actor: Actor;
  readonly atMs: number;
}

export interface StoredAuditEntry extends Omit<AuditNote, "action"> {
  readonly action: AuditAction;
  /** Grows with time. */
  readonly id: number;
  readonly atMs: number;
  /** The person, with the name at that time. */
  readonly person: { readonly id: number; readonly name: string } | null;
}

export interface AuditPage {
  readonly limit: number;
  /** Only entries older than this one. */
  readonly before?: number | undefined;
}

/** Entries are kept for two years. An organization keeps its newest 100,000, and up to 1,000 more until the
 * next trim. */
export interface AuditStore {
  add(entry: AuditEntry): Promise<void>;
  /** The newest first. */
  list(organization: number, page: AuditPage): Promise<readonly StoredAuditEntry[]>;
}
