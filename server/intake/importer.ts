/**
 * Imports: rows of a file, admitted and decided like requests. One commit stores a few hundred rows and the
 * new position of the file's record. A chunk has the number of its first row. A chunk that does not begin at
 * the record's position stores nothing. So a client may repeat a chunk after a lost answer or its own
 * restart.
 */
import { errorMessages } from "../../contract/errors.ts";
import { Refusal } from "../../contract/refusal.ts";
import { Zone } from "../calendar/zone.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { ImportRecord, RejectedRow } from "../ledger/stores/imports.ts";
import type { Stored, Writes } from "../ledger/transact.ts";
import type { Arrival } from "./admission/admit-event.ts";
import { type Invalid, isInvalid } from "./admission/json.ts";
import { decide, maxMovedInRequest, maxWorkInCommit } from "./decide/decide.ts";
import { messageIdOfHeld } from "./decide/decide-sourced.ts";
import { isStored, NeedsOf } from "./decide/requests.ts";
import {
  admitRow,
  type ImportRow,
  type ItemRow,
  isAdmitted,
  isItemRow,
  isWorkRow,
  outcomesOfRows,
  type RowOutcome,
  type RowVerdict,
  type WorkRow,
} from "./import-rows.ts";
import { about, type NoteTaker, noteFuture, noteIgnored } from "./notes.ts";

/** Rows of one commit. The decision blocks the write API, for 4 ms with 500 rows. */
export const maxImportRows = 500;

/** The verdict about a row that is held. */
export const heldVerdict = "new, held until its user is identified";

/** Whether a verdict of `check` is the reason why a row would be rejected. */
export function isRejection(verdict: string): boolean {
  return !["new", "duplicate", "ignored", heldVerdict].includes(verdict) && !verdict.startsWith("ignored: ");
}

/** The record after a chunk, or the reason why no write is accepted now. */
export type Appended = ImportRecord | { readonly closedBecause: string };

/** Imports what a team wrote in another tool. */
export interface WorkImporter {
  /** Stores the rows with the new position of their import, in one commit. */
  store(
    place: { readonly importId: number; readonly fromRow: number },
    arrival: Arrival,
    rows: readonly (WorkRow | Invalid)[],
  ): Promise<void>;
  /** The outcomes that the rows would have, as `Importer.check` has them. Stores nothing. */
  check(arrival: Arrival, rows: readonly (WorkRow | Invalid)[]): Promise<readonly string[]>;
}

export class Importer {
  readonly #ledger: Ledger;
  readonly #closedBecause: () => string | undefined;
  readonly #nowMs: () => number;
  readonly #warnings: NoteTaker;
  readonly #work: WorkImporter;
  readonly #zones = new Map<string, Zone>();
  readonly #underWay = new Set<Promise<unknown>>();

  /** `closedBecause` returns the reason why no write is accepted now, if there is one. */
  constructor(
    ledger: Ledger,
    closedBecause: () => string | undefined,
    nowMs: () => number,
    warnings: NoteTaker,
    work: WorkImporter,
  ) {
    this.#warnings = warnings;
    this.#work = work;
    this.#ledger = ledger;
    this.#closedBecause = closedBecause;
    this.#nowMs = nowMs;
  }

  /** The record of this file, new or as an earlier run left it. */
  begin(file: {
    organization: number;
    sha256: string;
    mapping: string;
    fileName: string;
  }): Promise<ImportRecord> {
    return this.#ledger.imports.begin({ ...file, nowMs: this.#nowMs() });
  }

  /** Every import of this content into the organization, with any mapping. */
  ofFile(organization: number, sha256: string): Promise<readonly ImportRecord[]> {
    return this.#ledger.imports.ofFile(organization, sha256);
  }

  /** Records that every row of the file is decided. */
  finish(importId: number): Promise<void> {
    return this.#ledger.imports.finish(importId, this.#nowMs());
  }

  /**
   * Decides and stores the rows that begin at `fromRow`, in one commit with the record's new position. If
   * very many items were held for their users, only the first rows are stored, at least one. The record has
   * their number. Rows that do not begin at the record's position store nothing, and the answer is the
   * record.
   * @throws Refusal when there is no such import or too many rows
   */
  async append(importId: number, fromRow: number, rows: readonly ImportRow[]): Promise<Appended> {
    const appending = this.#append(importId, fromRow, rows).finally(() => this.#underWay.delete(appending));
    this.#underWay.add(appending);
    return appending;
  }

  /** Resolves when all rows that were admitted before the call are stored or have failed. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#underWay);
  }

  async #append(importId: number, fromRow: number, rows: readonly ImportRow[]): Promise<Appended> {
    if (rows.length > maxImportRows) throw new Refusal(`send at most ${maxImportRows} rows at once.`);
    const closedBecause = this.#closedBecause();
    if (closedBecause !== undefined) return { closedBecause };
    const before = await this.#find(importId);
    if (before.rowsDone !== fromRow) return before;
    const arrival = await this.#arrival(before.organization);
    if (rows.some(isWorkRow)) {
      await this.#work.store({ importId, fromRow }, arrival, rows.map(asWork));
      return this.#find(importId);
    }
    const items = rows.filter(isItemRow);
    let stored: readonly DecidedRow[];
    do {
      // The event loop does not run between here and the commit, so the organization's timezone cannot
      // change.
      stored = await this.#decide(items, arrival, maxWorkInCommit, (outcomes, writes, merged) => ({
        ...writes,
        importProgress: {
          importId,
          fromRow,
          rows: outcomes.length,
          ...counted(outcomes, fromRow, merged),
        },
      }));
      // The first item of a row may attach so many held items that its others are left to a further commit.
    } while (stored.length === 0 && rows.length > 0);
    for (const { row, outcome } of stored) this.#note(row, outcome, arrival);
    return this.#find(importId);
  }

  #note(row: RowVerdict, outcome: RowOutcome, { organization, receivedAtMs: atMs }: Arrival): void {
    if (!isAdmitted(row)) {
      if ("ignored" in row && row.isTestMode === true) {
        const detail = row.ignored;
        this.#warnings.note({ organization, atMs, endpoint: "import", kind: "test_mode_ignored", detail });
      }
      return;
    }
    const { own } = row;
    if (own !== undefined && own.kind !== "account" && outcome !== "ignored" && isStored(outcome)) {
      noteIgnored(this.#warnings, about("import", own), outcome);
      noteFuture(this.#warnings, "import", own);
    }
    for (const left of row.leftOut) {
      this.#warnings.note({ organization, atMs, endpoint: "import", ...left });
    }
  }

  /** The outcomes that the rows would have, in order: new, duplicate, or the reason of a rejection. Stores
   * nothing. */
  async check(organization: number, rows: readonly ImportRow[]): Promise<readonly string[]> {
    const nothing = { users: [], accounts: [], inbox: [], versionRows: [], messages: [], dayCounts: [] };
    let verdicts: readonly string[] = [];
    const arrival = await this.#arrival(organization);
    if (rows.some(isWorkRow)) return this.#work.check(arrival, rows.map(asWork));
    const items = rows.filter(isItemRow);
    await this.#decide(items, arrival, Number.POSITIVE_INFINITY, (outcomes, { nowMs, heldEvents }) => {
      const held = new Set(heldEvents?.held.map(messageIdOfHeld));
      verdicts = outcomes.map((outcome, index) => {
        const row = items[index];
        return reasonOf(outcome) ?? nameOf(isAttached(outcome, row, held) ? "stored" : outcome, row);
      });
      return { ...nothing, nowMs };
    });
    return verdicts;
  }

  /** @returns the rows before the first that was left to a further commit, with their outcomes */
  async #decide(
    rows: readonly ItemRow[],
    arrival: Arrival,
    maxWork: number,
    write: (outcomes: readonly RowOutcome[], writes: Writes, merged: Merged) => Writes,
  ): Promise<readonly DecidedRow[]> {
    let decided: readonly DecidedRow[] = [];
    const verdicts = rows.map((row) => admitRow(row, arrival));
    const admitted = verdicts.flatMap((verdict) => (isAdmitted(verdict) ? verdict.entries : []));
    await this.#ledger.transact(new NeedsOf(admitted), (stored) => {
      const { outcomes, writes } = decide(admitted, stored, arrival.receivedAtMs, {
        maxWork,
        mayMove: maxMovedInRequest,
      });
      const all = outcomesOfRows(verdicts, outcomes);
      decided = all.flatMap((outcome, index) => {
        const row = verdicts[index];
        return row === undefined ? [] : [{ row, outcome }];
      });
      const kinds = verdicts.map((row) => (isAdmitted(row) ? row.own?.kind : undefined));
      const isMerged = (index: number) => kinds[index] === "identify" || kinds[index] === "account";
      const merged = all.filter((outcome, index) => isMerged(index) && isTaken(outcome)).length;
      const changes = merged === 0 ? 0 : changesOf(writes, stored, kinds.includes("account"));
      return write(all, writes, { stored: merged, changes });
    });
    return decided;
  }

  async #find(importId: number): Promise<ImportRecord> {
    const record = await this.#ledger.imports.find(importId);
    if (record === undefined) throw new Refusal(`There is no import ${importId}.`);
    return record;
  }

  async #arrival(organization: number): Promise<Arrival> {
    const found = await this.#ledger.organizations.find(organization);
    if (found === undefined) throw new Refusal(`There is no organization with the id ${organization}.`);
    const zone = this.#zones.get(found.timezone) ?? new Zone(found.timezone);
    this.#zones.set(found.timezone, zone);
    return { organization, zone, receivedAtMs: this.#nowMs(), idempotencyKey: null };
  }
}

/** A row among those of what a team wrote. */
function asWork(row: ImportRow): WorkRow | Invalid {
  if (isWorkRow(row) || isInvalid(row)) return row;
  return { invalid: "work is missing: a file has rows of one type." };
}

interface DecidedRow {
  readonly row: RowVerdict;
  readonly outcome: RowOutcome;
}

/** Users and accounts that were stored, and how many of them changed something. */
interface Merged {
  readonly stored: number;
  readonly changes: number;
}

/** The changes of users, or of accounts if the file has accounts. Each makes a version. */
function changesOf(
  { users, accounts }: Pick<Writes, "users" | "accounts">,
  stored: Pick<Stored, "user" | "account">,
  isOfAccounts: boolean,
): number {
  const pairs = isOfAccounts
    ? accounts.map((after) => [stored.account(after.organization, after.accountId), after] as const)
    : users.map((after) => [stored.user(after.organization, after.userId), after] as const);
  return pairs.reduce((sum, [before, after]) => sum + after.version - (before?.version ?? 0), 0);
}

/** An identify or an account without a new value is counted as a duplicate. Ignored rows are counted as
 * nothing else. */
function counted(outcomes: readonly RowOutcome[], fromRow: number, merged: Merged) {
  const rejected: RejectedRow[] = [];
  outcomes.forEach((outcome, index) => {
    const reason = reasonOf(outcome);
    if (reason !== undefined) rejected.push({ row: fromRow + index, reason });
  });
  const ignored = outcomes.filter((outcome) => outcome === "ignored").length;
  const taken = outcomes.filter(isTaken).length;
  const stored = taken - merged.stored + merged.changes;
  return { stored, duplicates: outcomes.length - rejected.length - ignored - stored, rejected };
}

/** Whether a row was stored, or is held until its user is identified. */
function isTaken(outcome: RowOutcome): boolean {
  return outcome !== "ignored" && (outcome === "held" || isStored(outcome));
}

function reasonOf(outcome: RowOutcome): string | undefined {
  if (outcome === "not_found") return errorMessages.userNotFound;
  return isInvalid(outcome) ? outcome.invalid : undefined;
}

/** Whether the events of a row that was held were attached to their user by a later item. */
function isAttached(
  outcome: RowOutcome,
  row: ItemRow | undefined,
  held: ReadonlySet<string | null>,
): boolean {
  if (outcome !== "held" || typeof row !== "object" || !("items" in row)) return false;
  const ids = row.items.flatMap(({ messageId }) => messageId ?? []);
  return ids.length > 0 && !ids.some((id) => held.has(id));
}

function nameOf(outcome: RowOutcome, row: ItemRow | undefined): string {
  if (outcome === "held") return heldVerdict;
  if (outcome === "ignored") {
    return typeof row === "object" && "ignored" in row ? `ignored: ${row.ignored}` : "ignored";
  }
  return outcome === "duplicate" ? "duplicate" : "new";
}
