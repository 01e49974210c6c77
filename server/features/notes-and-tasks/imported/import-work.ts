/**
 * Imports notes, tasks, contacts and owners. A note or a task is a row of the ledger. A contact is an event,
 * and an owner a trait, so both are decided as such. In either case one commit has the rows, the entry in
 * the audit log, and the new position of the import.
 */
import { createHash } from "node:crypto";
import { contactEvent } from "../../../../contract/api/contacts.ts";
import { ownerTrait, type WorkType } from "../../../../contract/notes-and-tasks.ts";
import { msPerDay } from "../../../calendar/zone.ts";
import type { Arrival } from "../../../intake/admission/admit-event.ts";
import { type Invalid, isInvalid, parseBody } from "../../../intake/admission/json.ts";
import { traitEntry } from "../../../intake/change-trait.ts";
import { decide, maxMovedInRequest } from "../../../intake/decide/decide.ts";
import {
  asWriteOutcome,
  type Decidable,
  errorOf,
  isStored,
  NeedsOf,
} from "../../../intake/decide/requests.ts";
import type { WorkRow } from "../../../intake/import-rows.ts";
import type { WorkImporter } from "../../../intake/importer.ts";
import { admitTrack } from "../../../intake/track.ts";
import { commandLine } from "../../../ledger/audit.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import { ownersOf } from "../../../ledger/rules/owners.ts";
import type { EntityRef } from "../../../ledger/stores/entity-rows.ts";
import type { RejectedRow } from "../../../ledger/stores/imports.ts";
import type { Stored, Writes } from "../../../ledger/transact.ts";
import { type AdmittedWork, admitWork, inColumns, type NamedSubject } from "./rows.ts";
import {
  type FoundForRows,
  type ImportedNote,
  type ImportedTask,
  importedNote,
  type NamedInRows,
} from "./store.ts";

type NeededLedger = Pick<Ledger, "transact" | "members" | "importedWork">;

/** An importer of notes, tasks, contacts and owners. Its rows are changes by the command line. */
export function workImporter(ledger: NeededLedger): WorkImporter {
  return {
    store: async (place, arrival, rows) => {
      const read = await readRows(ledger, arrival, rows, place.fromRow);
      const chunk = {
        ...place,
        organization: arrival.organization,
        rows: rows.length,
        rejected: read.rejected,
      };
      const { receivedAtMs: nowMs } = arrival;
      if (read.work === "notes") {
        await ledger.importedWork.addNotes(chunk, read.found.flatMap(asNote), commandLine, nowMs);
      } else if (read.work === "tasks") {
        await ledger.importedWork.addTasks(chunk, read.found.flatMap(asTask), commandLine, nowMs);
      } else {
        const entries = entriesOf(read.found, arrival);
        await transactEntries(ledger, arrival, entries, (outcomes, writes) => {
          const stored = outcomes.filter(({ outcome }) => outcome === "stored").length;
          const duplicates = outcomes.filter(({ outcome }) => outcome === "duplicate").length;
          const refused = outcomes.flatMap(({ row, outcome }) =>
            typeof outcome === "object" ? { row, reason: outcome.invalid } : [],
          );
          const rejected = [...read.rejected, ...refused].toSorted((a, b) => a.row - b.row);
          const progress = { ...place, rows: rows.length, stored, duplicates, rejected };
          const note = importedNote(read.work, place.importId, stored);
          const entry = { organization: arrival.organization, actor: commandLine, atMs: nowMs, ...note };
          return { ...writes, importProgress: progress, audit: stored === 0 ? [] : [entry] };
        });
      }
    },

    check: async (arrival, rows) => {
      const read = await readRows(ledger, arrival, rows, 0);
      const verdicts = new Map(read.rejected.map(({ row, reason }) => [row, reason]));
      const { work, found } = read;
      if (work === "notes" || work === "tasks") {
        const keys = found.map(({ key }) => key);
        const known = new Set(await ledger.importedWork.known(arrival.organization, work, keys));
        for (const { row, key } of found) {
          verdicts.set(row, known.has(key) ? "duplicate" : "new");
          known.add(key);
        }
      } else {
        await transactEntries(ledger, arrival, entriesOf(found, arrival), (outcomes, { nowMs }) => {
          for (const { row, outcome } of outcomes) {
            verdicts.set(row, typeof outcome === "object" ? outcome.invalid : nameOf(outcome));
          }
          return { ...nothing, nowMs };
        });
      }
      return rows.map((_, row) => verdicts.get(row) ?? "");
    },
  };
}

const nameOf = (outcome: "stored" | "duplicate") => (outcome === "stored" ? "new" : "duplicate");

const nothing = { users: [], accounts: [], inbox: [], versionRows: [], messages: [], dayCounts: [] } as const;

/** A row whose user or account is there. */
interface FoundRow {
  /** Counted from 0, from the begin of the file. */
  readonly row: number;
  readonly key: string;
  readonly entity: EntityRef;
  /** The user of a contact: an account is contacted through one of its users. */
  readonly contacted: string | null;
  readonly said: AdmittedWork;
}

interface ReadRows {
  readonly work: WorkType;
  readonly found: readonly FoundRow[];
  readonly rejected: readonly RejectedRow[];
}

async function readRows(
  ledger: NeededLedger,
  { organization, zone, receivedAtMs: nowMs }: Arrival,
  rows: readonly (WorkRow | Invalid)[],
  fromRow: number,
): Promise<ReadRows> {
  const members = ownersOf(await ledger.members.list(organization));
  const first = rows.find((row) => !isInvalid(row));
  const work = first === undefined || isInvalid(first) ? "notes" : first.work;
  const admitted = rows.map((row) => {
    if (isInvalid(row)) return row;
    if (row.work !== work) return { invalid: "work is another one: a file has rows of one type." };
    return admitWork(row, { zone, nowMs, members });
  });
  const there = await ledger.importedWork.find(organization, namedIn(admitted));
  const found: FoundRow[] = [];
  const rejected: RejectedRow[] = [];
  for (const [index, said] of admitted.entries()) {
    const row = fromRow + index;
    const entity = isInvalid(said) ? said : entityOf(said, there);
    if (!isInvalid(said) && !isInvalid(entity)) {
      const contacted = entity.kind === "user" ? entity.id : (there.accounts.get(entity.id) ?? null);
      found.push({ row, key: keyOf(said, entity), entity, contacted, said });
    } else if (isInvalid(entity)) {
      const sent = rows[index];
      const { invalid: reason } = sent === undefined || isInvalid(sent) ? entity : inColumns(entity, sent);
      rejected.push({ row, reason });
    }
  }
  return { work, found, rejected };
}

function namedIn(admitted: readonly (AdmittedWork | Invalid)[]): NamedInRows {
  const subjects = admitted.flatMap((row) => (isInvalid(row) ? [] : row.subject));
  const idsOf = (kind: NamedSubject["kind"]) => [
    ...new Set(subjects.flatMap((subject) => (subject.kind === kind ? subject.id : []))),
  ];
  return { userIds: idsOf("user"), emails: idsOf("email"), accountIds: idsOf("account") };
}

/** The user or the account that a row names, or why there is none. */
function entityOf({ subject, work }: AdmittedWork, there: FoundForRows): EntityRef | Invalid {
  const { kind, id } = subject;
  const name = JSON.stringify(id);
  if (kind === "email") {
    const found = there.byEmail.get(id);
    if (found === undefined) return { invalid: `email ${name} is no user's: import users first.` };
    if (found.users > 1) return { invalid: `email ${name} is that of ${found.users} users: send userId.` };
    return { kind: "user", id: found.userId };
  }
  if (kind === "user") {
    return there.userIds.has(id)
      ? { kind, id }
      : { invalid: `userId ${name} is unknown: import users first.` };
  }
  const contacted = there.accounts.get(id);
  if (contacted === undefined) return { invalid: `accountId ${name} is unknown: import accounts first.` };
  if (contacted === null && work === "contacts") {
    return {
      invalid: `accountId ${name} has no users, and an account is contacted through one of its users: import users first.`,
    };
  }
  return { kind, id };
}

/** The hash by which a row is known for good: of its own id, else of all that it says. */
function keyOf({ work, meaning }: AdmittedWork, { kind, id }: EntityRef): string {
  const said = meaning[0] === "id" ? meaning : [...meaning, kind, id];
  return createHash("sha256")
    .update(JSON.stringify([work, ...said]))
    .digest("hex");
}

function asNote({ row, key, entity, said }: FoundRow): ImportedNote | [] {
  if (said.work !== "notes") return [];
  const { atMs, author, text } = said;
  return { row, key, entity, atMs, author, text };
}

function asTask({ row, key, entity, said }: FoundRow): ImportedTask | [] {
  if (said.work !== "tasks") return [];
  const { atMs, author, title, dueDay, assignee, doneAtMs } = said;
  return { row, key, entity, atMs, author, title, dueDay, assignee, doneAtMs };
}

/** A row as a request. */
interface Entry {
  readonly row: number;
  readonly entity: EntityRef;
  readonly request: Decidable | Invalid;
  /** Undefined for a contact. */
  readonly owner: NewOwner | undefined;
}

function entriesOf(found: readonly FoundRow[], arrival: Arrival): readonly Entry[] {
  return found.flatMap(({ row, key, entity, contacted, said }): Entry | [] => {
    if (said.work === "contacts") {
      return {
        row,
        entity,
        owner: undefined,
        request: contactRequest(said, { key, entity, contacted }, arrival),
      };
    }
    if (said.work !== "owners") return [];
    const { organization, zone, receivedAtMs: nowMs } = arrival;
    const { atMs } = said;
    const value = said.owner.email;
    const chosen = { organization, zone, entity, trait: ownerTrait, value, nowMs, atMs };
    return { row, entity, owner: { value, atMs }, request: traitEntry(chosen) };
  });
}

function contactRequest(
  { atMs, by, kind, text }: Extract<AdmittedWork, { readonly work: "contacts" }>,
  { key, entity, contacted }: Pick<FoundRow, "key" | "entity" | "contacted">,
  arrival: Arrival,
): Decidable | Invalid {
  const properties = {
    ...(by !== null && { by }),
    ...(kind !== null && { kind }),
    ...(text !== null && { text }),
    ...(entity.kind === "account" && { ofAccount: true }),
    // Rules about contacts do not fire for it.
    imported: true,
  };
  const timestamp = new Date(atMs).toISOString();
  const body = { userId: contacted ?? "", event: contactEvent, timestamp, properties, messageId: key };
  const parsed = parseBody(new TextEncoder().encode(JSON.stringify(body)));
  const admitted = isInvalid(parsed) ? parsed : admitTrack(parsed, arrival);
  return isInvalid(admitted) ? admitted : { ...admitted, lastingDay: Math.floor(atMs / msPerDay) };
}

interface DecidedEntry {
  readonly row: number;
  readonly outcome: "stored" | "duplicate" | Invalid;
}

/** Decides the requests in one transaction, and writes what `write` makes of the outcomes. */
async function transactEntries(
  ledger: NeededLedger,
  { organization, receivedAtMs: nowMs }: Arrival,
  entries: readonly Entry[],
  write: (outcomes: readonly DecidedEntry[], writes: Writes) => Writes,
): Promise<void> {
  const requests = entries.flatMap(({ request }) => (isInvalid(request) ? [] : request));
  await ledger.transact(new NeedsOf(requests), (stored) => {
    const owners = new OwnersOfChunk(stored, organization, nowMs);
    const outcomes: DecidedEntry[] = [];
    const asked: { readonly row: number; readonly request: Decidable }[] = [];
    for (const { row, entity, request, owner } of entries) {
      const before = owner === undefined ? undefined : owners.decided(entity, owner);
      if (isInvalid(request)) outcomes.push({ row, outcome: request });
      else if (before !== undefined) outcomes.push({ row, outcome: before });
      else asked.push({ row, request });
    }
    const group = asked.map(({ request }) => request);
    const limits = { maxWork: Number.POSITIVE_INFINITY, mayMove: maxMovedInRequest };
    const decided = decide(group, stored, nowMs, limits);
    for (const [index, { row }] of asked.entries()) {
      const outcome = asWriteOutcome(decided.outcomes[index] ?? "not_found");
      const error = errorOf(outcome);
      const named =
        error === undefined ? (isStored(outcome) ? "stored" : "duplicate") : { invalid: error.message };
      outcomes.push({ row, outcome: named });
    }
    return write(outcomes, decided.writes);
  });
}

/** An owner's address, and since when it is true. */
interface NewOwner {
  readonly value: string;
  readonly atMs: number;
}

/** The owners that are stored, or that earlier rows of the chunk set. */
class OwnersOfChunk {
  readonly #stored: Stored;
  readonly #organization: number;
  readonly #nowMs: number;
  readonly #set = new Map<string, NewOwner>();

  constructor(stored: Stored, organization: number, nowMs: number) {
    this.#stored = stored;
    this.#organization = organization;
    this.#nowMs = nowMs;
  }

  /** The outcome of a row that sets nothing: its owner is there already, or a newer one, or the user or
   * account was erased since it was found. Undefined for a row that sets the owner. */
  decided(entity: EntityRef, owner: NewOwner): "duplicate" | Invalid | undefined {
    const { kind, id } = entity;
    const name = `${kind} ${id}`;
    const user = kind === "user" ? this.#stored.user(this.#organization, id) : undefined;
    const before = user ?? (kind === "account" ? this.#stored.account(this.#organization, id) : undefined);
    if (before === undefined)
      return { invalid: `${kind}Id ${JSON.stringify(id)} is unknown: import ${kind}s first.` };
    const { [ownerTrait]: value } = before.traits;
    const fieldMs = before.fieldTimestampsMs[`properties.${ownerTrait}`] ?? before.timestampMs;
    const known = this.#set.get(name) ?? (typeof value === "string" ? { value, atMs: fieldMs } : undefined);
    if (known?.value === owner.value) return "duplicate";
    if (known !== undefined && owner.atMs < this.#nowMs && known.atMs > owner.atMs) return "duplicate";
    this.#set.set(name, owner);
    return undefined;
  }
}
