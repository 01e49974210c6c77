/**
 * The ledger across the process boundary: intake answers on the control socket, analysis and the command
 * line call. `SharedLedger` says what they may call.
 */
import { features } from "../../features/features.ts";
import type { Importer } from "../../intake/importer.ts";
import type { AskedErasure } from "../../ledger/erasures.ts";
import type { Ledger, SharedLedger } from "../../ledger/ledger.ts";
import type { WarningKind } from "../../ledger/stores/warnings.ts";
import { type Operation, type Operations, operationsOf, remote } from "../../process/call.ts";
import { socketPeer } from "../../process/control.ts";

/** What only the process that writes the ledger does with it. */
const ownCalls: ReadonlySet<string> = new Set(["transact", "tidy", "snapshot", "close", "inbox.read"]);

/** Changes after which the caches of tokens, keys and organizations are read again. Removing a member revokes
 * read keys. */
const changesCaches =
  /^(organizations\.(create|set|eventsDropped)|(tokens|readKeys)\.(create|revoke)|members\.\w+)$/;

/** The caches of tokens, keys and organizations, which follow changes and lists. */
interface Memory {
  forget(): void;
  recordUse(): Promise<void>;
  /** Writes down the warnings that were only counted so far. */
  recordWarnings(): Promise<void>;
  /** Writes down what came from sources and was only counted so far. */
  recordSources(): Promise<void>;
  /** Leaves no warning that names the user but those that are written down. */
  forgetWarningsOf(organization: number, userId: string): Promise<void>;
  /** Shows no more in the live view what names the account. */
  forgetAccount(organization: number, accountId: string): void;
  /** Ends the live view of an organization that is deleted. */
  forgetOrganization(organization: number): void;
  /** Resolves when every write that was admitted before is committed. */
  settled(): Promise<void>;
}

/** The operations that intake answers: those of the ledger, and of the importer in place of its `imports`. */
export function ledgerOperations(ledger: Ledger, memory: Memory, importer: ImportService): Operations {
  const ofLedger = operationsOf(ledger);
  const ofImporter = operationsOf({ imports: importer });
  const withMemory = new Map(Object.entries(operationsWithMemory(ledger, memory)));
  return (path) => {
    if (ownCalls.has(path)) return undefined;
    if (path.startsWith("imports.")) return ofImporter(path);
    const operation = withMemory.get(path) ?? ofLedger(path);
    if (operation === undefined || !changesCaches.test(path)) return operation;
    return async (...parameters) => {
      const result = await operation(...parameters);
      memory.forget();
      return result;
    };
  };
}

/** Operations that are more than the ledger's work: what was only counted is written down before it is read,
 * and intake's memory forgets what was erased. */
function operationsWithMemory(ledger: Ledger, memory: Memory): Readonly<Record<string, Operation>> {
  const { tokens, readKeys, warnings, personData, sources, erasures, deletions } = ledger;
  return {
    // Uses are written down once a minute; a list shows them all.
    "tokens.list": (organization: number) => memory.recordUse().then(() => tokens.list(organization)),
    "readKeys.list": (organization: number) => memory.recordUse().then(() => readKeys.list(organization)),
    "warnings.list": async (organization: number, limit: number, kind?: WarningKind) => {
      await memory.recordWarnings();
      return warnings.list(organization, limit, kind);
    },
    "personData.identity": async (organization: number, userId: string) => {
      await memory.recordWarnings();
      return personData.identity(organization, userId);
    },
    "sources.hours": async (organization: number, fromUtcHour: number) => {
      await memory.recordSources();
      return sources.hours(organization, fromUtcHour);
    },
    "erasures.begin": async (organization: number, userId: string, asked?: AskedErasure) => {
      await memory.forgetWarningsOf(organization, userId);
      const begun = await erasures.begin(organization, userId, asked);
      // Requests that were under way at the erasure have ended.
      await memory.settled();
      for (const name of begun?.names ?? [userId]) await memory.forgetWarningsOf(organization, name);
      if (begun?.ofAccount) memory.forgetAccount(organization, begun.ofAccount.accountId);
      return begun;
    },
    "erasures.beginAccount": async (organization: number, accountId: string, asked?: AskedErasure) => {
      const begun = await erasures.beginAccount(organization, accountId, asked);
      await memory.settled();
      memory.forgetAccount(organization, accountId);
      return begun;
    },
    "deletions.begin": async (organization: number) => {
      const begun = await deletions.begin(organization);
      memory.forget();
      await memory.settled();
      memory.forgetOrganization(organization);
      return begun;
    },
    rebuildsPending: async () => {
      const pending = await ledger.rebuildsPending();
      // Items that were admitted in the old timezone have to be in the inbox before the rebuild drains it.
      if (pending.length > 0) await memory.settled();
      return pending;
    },
  };
}

/** Imports rows: the importer of the intake process, or the command line's own. */
export type ImportService = Pick<Importer, "begin" | "ofFile" | "append" | "finish" | "check">;

/** The importer of the intake process behind this socket. */
export function remoteImporter(socket: string): ImportService {
  return remote<{ readonly imports: ImportService }>(socketPeer(socket)).imports;
}

/** The ledger of the intake process behind this socket. The reader is the caller's own, since the rows of a
 * batch, and a snapshot, are better read from the file than carried through the process that serves
 * writes. */
export function remoteLedger(
  socket: string,
  reader: Pick<SharedLedger["inbox"], "read"> & Pick<SharedLedger, "snapshot">,
): SharedLedger {
  const ledger = remote<SharedLedger>(socketPeer(socket));
  const own: object = {
    features,
    inbox: new Proxy(ledger.inbox, {
      get: (inbox, name) => (name === "read" ? reader.read : Reflect.get(inbox, name)),
    }),
    snapshot: async (folder: string) => {
      await ledger.flush();
      return reader.snapshot(folder);
    },
  };
  return new Proxy(ledger, {
    get: (all, name) => Reflect.get(own, name) ?? Reflect.get(all, name),
  });
}
