/**
 * Decides a group of admitted requests against what is stored: which are duplicates, which users are new,
 * what they look like after the merge, and which rows the warehouse gets. Pure, and the only place that
 * knows; both ledgers call it inside a transaction and write what it returns.
 *
 * Requests of one group see each other in order: a track may follow its user's identify.
 */
import { msPerDay } from "../calendar/zone.ts";
import type { Account, DayCount, InboxRows, User, WarehouseTable } from "../ledger/ledger.ts";
import type { KnownUser, Message, Needs, Stored, Writes } from "../ledger/transaction.ts";
import {
  accountRow,
  currentSchema,
  eventRow,
  isCanonicalUuid,
  userRow,
  userVersionRow,
} from "../warehouse/rows.ts";
import type { AdmittedIdentify, SentAccount } from "./identify.ts";
import { type Invalid, isInvalid } from "./json.ts";
import { merge } from "./merge.ts";
import type { AdmittedTrack } from "./track.ts";

export type Admitted = AdmittedIdentify | AdmittedTrack;

export type Outcome = "stored" | "duplicate" | "not_found" | Invalid;

/** What has to be known to decide these requests; made only as far as the ledger asks. */
export class NeedsOf implements Needs {
  readonly #group: readonly Admitted[];

  constructor(group: readonly Admitted[]) {
    this.#group = group;
  }

  get known() {
    return this.#group.filter((entry) => entry.kind === "track");
  }

  get users() {
    return this.#group.filter((entry) => entry.kind === "identify");
  }

  get accounts() {
    return this.users.flatMap(({ organization, account }) =>
      account ? [{ organization, accountId: account.accountId }] : [],
    );
  }

  get messageIds() {
    return this.#group.flatMap(({ organization, messageId }) =>
      messageId === null ? [] : [{ organization, messageId }],
    );
  }
}

/** Decides the group in its order; `outcomes` has one entry for each request. */
export function decide(
  group: readonly Admitted[],
  stored: Stored,
  nowMs: number,
): { readonly outcomes: readonly Outcome[]; readonly writes: Writes } {
  const decision = new Decision(stored);
  const outcomes = group.map((entry) => decision.decide(entry));
  return { outcomes, writes: decision.writes(nowMs) };
}

class Decision {
  readonly #stored: Stored;
  readonly #users = new Map<string, User>();
  readonly #accounts = new Map<string, Account>();
  readonly #messages = new Map<string, Message>();
  readonly #lastUserNumber = new Map<number, number>();
  readonly #lastAccountNumber = new Map<number, number>();
  readonly #lines = new Map<string, { table: WarehouseTable; year: number; lines: string[] }>();
  readonly #dayCounts = new Map<number, { -readonly [Field in keyof DayCount]: DayCount[Field] }>();
  readonly #versionRows = new Map<number, { organization: number; rows: number; versions: number }>();
  #events = 0;

  constructor(stored: Stored) {
    this.#stored = stored;
  }

  decide(entry: Admitted): Outcome {
    const { organization, messageId } = entry;
    if (messageId === null) return this.#store(entry);
    const key = keyOf(organization, messageId);
    if (this.#messages.has(key)) return "duplicate";
    const message = this.#stored.message(organization, messageId);
    if (message.remembered) return "duplicate";
    const outcome = this.#store(entry);
    // Only successes are remembered: a refused message may be sent again under the same id.
    if (outcome === "stored") this.#messages.set(key, message);
    return outcome;
  }

  #store(entry: Admitted): Outcome {
    return entry.kind === "track" ? this.#track(entry) : this.#identify(entry);
  }

  #track(entry: AdmittedTrack): Outcome {
    const { organization, userId, messageId, timeMs } = entry;
    const user = this.#knownUser(organization, userId);
    if (user === undefined) return "not_found";
    const id = messageId !== null && isCanonicalUuid(messageId) ? messageId : this.#nextEventId();
    this.#addRow(
      "events",
      new Date(timeMs).getUTCFullYear(),
      eventRow({ ...entry, user: user.number, account: user.account, id }),
    );
    this.#count(organization, Math.floor(timeMs / msPerDay), Number.parseInt(id.slice(-8), 16));
    return "stored";
  }

  #knownUser(organization: number, userId: string): KnownUser | undefined {
    const identified = this.#users.size === 0 ? undefined : this.#users.get(keyOf(organization, userId));
    return identified ?? this.#stored.known(organization, userId);
  }

  #identify(entry: AdmittedIdentify): Outcome {
    if (this.#wasErased(entry)) return "duplicate";
    const key = keyOf(entry.organization, entry.userId);
    const before = this.#users.get(key) ?? this.#stored.user(entry.organization, entry.userId);
    const merged = merge(before, entry, this.#accountNumber(entry));
    if (isInvalid(merged)) return merged;
    const { changed, retimed, news, ...fields } = merged;
    if (!changed && !retimed) return "stored";
    const after: User = {
      organization: entry.organization,
      userId: entry.userId,
      number: before?.number ?? this.#nextUserNumber(entry.organization),
      ...fields,
      firstIdentifiedAtMs: Math.min(before?.firstIdentifiedAtMs ?? entry.saidAtMs, entry.saidAtMs),
      updatedAtMs: entry.receivedAtMs,
      version: (before?.version ?? 0) + (changed ? 1 : 0),
    };
    this.#users.set(key, after);
    // What was only said again is kept by the ledger, so that what is delivered late cannot win over it.
    if (changed) this.#addRow("users", 0, userRow(after));
    for (const said of news) this.#addVersion(after, said);
    return "stored";
  }

  #addVersion(user: User, said: Parameters<typeof userVersionRow>[1]): void {
    this.#addRow("user_versions", 0, userVersionRow(user, said));
    const { organization, version } = user;
    const { rows, versions } = this.#versionRows.get(organization) ?? { rows: 0, versions: 0 };
    this.#versionRows.set(organization, { organization, rows: rows + 1, versions: versions + version });
  }

  /** Whether this was said before the user was erased, and only delivered late: it stays out. What says no time
   * of its own is said now. */
  #wasErased({ organization, userId, saidAtMs, receivedAtMs }: AdmittedIdentify): boolean {
    if (saidAtMs >= receivedAtMs) return false;
    const erasedAtMs = this.#stored.erasedAtMs(organization, userId);
    return erasedAtMs !== undefined && saidAtMs < erasedAtMs;
  }

  /** The number of the account that was sent; a new or changed account is written. */
  #accountNumber({ organization, account, receivedAtMs }: AdmittedIdentify): number | undefined {
    if (!account) return account === null ? 0 : undefined;
    return this.#upsertAccount(organization, account, receivedAtMs).number;
  }

  #upsertAccount(organization: number, sent: SentAccount, atMs: number): Account {
    const key = keyOf(organization, sent.accountId);
    const before = this.#accounts.get(key) ?? this.#stored.account(organization, sent.accountId);
    const avatar = sent.avatar === undefined ? (before?.avatar ?? null) : sent.avatar;
    if (before !== undefined && before.name === sent.name && before.avatar === avatar) return before;
    const after: Account = {
      organization,
      accountId: sent.accountId,
      number: before?.number ?? this.#nextAccountNumber(organization),
      name: sent.name,
      avatar,
      createdAtMs: before?.createdAtMs ?? atMs,
      updatedAtMs: atMs,
      version: (before?.version ?? 0) + 1,
    };
    this.#accounts.set(key, after);
    this.#addRow("accounts", 0, accountRow(after));
    return after;
  }

  #nextUserNumber(organization: number): number {
    const last = this.#lastUserNumber.get(organization) ?? this.#stored.lastUserNumber(organization);
    this.#lastUserNumber.set(organization, last + 1);
    return last + 1;
  }

  #nextAccountNumber(organization: number): number {
    const last = this.#lastAccountNumber.get(organization) ?? this.#stored.lastAccountNumber(organization);
    this.#lastAccountNumber.set(organization, last + 1);
    return last + 1;
  }

  /** An id for an event that brought none: its row in the group, then the transaction. */
  #nextEventId(): string {
    this.#events += 1;
    return `00000000${hex(this.#events, 8)}${hex(this.#stored.transaction, 16)}`;
  }

  #addRow(table: WarehouseTable, year: number, line: string): void {
    const key = `${table} ${year}`;
    const rows = this.#lines.get(key);
    if (rows === undefined) this.#lines.set(key, { table, year, lines: [line] });
    else rows.lines.push(line);
  }

  #count(organization: number, utcDay: number, checksum: number): void {
    // One number for both: there are fewer than 2^17 days.
    const key = organization * 2 ** 17 + utcDay;
    const count = this.#dayCounts.get(key);
    if (count === undefined) {
      this.#dayCounts.set(key, { organization, utcDay, events: 1, checksum });
    } else {
      count.events += 1;
      count.checksum = (count.checksum + checksum) >>> 0;
    }
  }

  writes(nowMs: number): Writes {
    const inbox: InboxRows[] = [];
    for (const { table, year, lines } of this.#lines.values()) {
      const body = `${lines.join("\n")}\n`;
      inbox.push({ table, year, schema: currentSchema[table], rows: lines.length, body });
    }
    return {
      users: [...this.#users.values()],
      accounts: [...this.#accounts.values()],
      inbox,
      versionRows: [...this.#versionRows.values()],
      messages: [...this.#messages.values()],
      dayCounts: [...this.#dayCounts.values()],
      nowMs,
    };
  }
}

function keyOf(organization: number, id: string): string {
  return `${organization} ${id}`;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
