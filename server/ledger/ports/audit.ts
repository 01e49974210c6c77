/** The audit log: who changed what of an organization, and when. It never holds a secret, nor who a user is: an
 * erasure could not reach it. A store that changes something writes the entry in the same commit. */
import type { AuditAction } from "../../../contract/audit.ts";
import type { JsonObject } from "../../../contract/json.ts";
import type { StoredAuditAction } from "../rules/stored-names.ts";

/** Who changes something. */
export interface Actor {
  /** Null for the command line, a read key, and the service itself. */
  readonly person: { readonly id: number; readonly name: string } | null;
  /** As the history of settings tells it: `Ada (person 3)`, `command line`, `read key 3`. */
  readonly by: string;
  /** False: the change has no entry in the log. */
  readonly isLogged?: false;
}

/** Whoever runs commands on the machine. */
export const commandLine: Actor = { person: null, by: "command line" };

/** The first start and the demonstration set up an organization, whose log begins empty. */
export const settingUp: Actor = { ...commandLine, isLogged: false };

/** What the service notes by itself. */
export const serviceItself: Actor = { person: null, by: "the service" };

/** Who came with a read key. */
export function readKeyActor(id: number): Actor {
  return { person: null, by: `read key ${id}` };
}

/** Who is signed in. The number cannot be chosen, the name can. */
export function personActor({ id, name }: { readonly id: number; readonly name: string }): Actor {
  return { person: { id, name }, by: `${name} (person ${id})` };
}

/** What was changed. */
export interface AuditNote {
  readonly action: AuditAction;
  /** In words. */
  readonly summary: string;
  readonly detail: JsonObject;
}

export interface AuditEntry extends AuditNote {
  readonly organization: number;
  readonly actor: Actor;
  readonly atMs: number;
}

export interface StoredAuditEntry extends Omit<AuditNote, "action"> {
  readonly action: StoredAuditAction;
  /** Grows with time. */
  readonly id: number;
  readonly atMs: number;
  /** With the name that the person had then. */
  readonly person: { readonly id: number; readonly name: string } | null;
}

export interface AuditPage {
  readonly limit: number;
  /** Only entries older than this one. */
  readonly before?: number | undefined;
}

/** Entries are kept for two years, and the last 100,000 of an organization (up to 1,000 more for a while). */
export interface AuditStore {
  add(entry: AuditEntry): Promise<void>;
  /** The newest first. */
  list(organization: number, page: AuditPage): Promise<readonly StoredAuditEntry[]>;
}
