/** The rows that a group of requests adds to the warehouse, and the ledger's counts of them. */
import { msPerDay } from "../../calendar/zone.ts";
import type { Account, User } from "../../ledger/entities.ts";
import type { DayCount, InboxRows, WarehouseTable } from "../../ledger/inbox.ts";
import {
  accountRow,
  accountVersionRow,
  currentSchema,
  eventRow,
  isCanonicalUuid,
  userRow,
  userVersionRow,
} from "../../ledger/rules/warehouse-rows.ts";
import type { KnownUser, Stored, Writes } from "../../ledger/transact.ts";
import type { News } from "./merge.ts";

/** An event before its user is known. */
type SentEvent = Omit<Parameters<typeof eventRow>[0], "id" | "user" | "account"> & {
  /** See `AdmittedTrack`. */
  readonly isOfPast: boolean;
};

type VersionRowsOf = Writes["versionRows"][number];

export class DecidedRows {
  readonly #stored: Stored;
  readonly #lines = new Map<string, { table: WarehouseTable; year: number; lines: string[] }>();
  readonly #dayCounts = new Map<number, { -readonly [Field in keyof DayCount]: DayCount[Field] }>();
  readonly #versionRows = new Map<number, VersionRowsOf>();
  readonly #accountVersionRows = new Map<number, VersionRowsOf>();
  /** As the group leaves them. A row is a whole user or account, and its last version alone is read. */
  readonly #users = new Map<string, User>();
  readonly #accounts = new Map<string, Account>();
  /** Events of earlier days, by organization. */
  readonly ofPast = new Map<number, number>();
  #events = 0;

  constructor(stored: Stored) {
    this.#stored = stored;
  }

  /** @param of its user and account */
  event(event: SentEvent, of: KnownUser): void {
    const { organization, messageId, timeMs } = event;
    if (event.isOfPast) this.ofPast.set(organization, (this.ofPast.get(organization) ?? 0) + 1);
    const id = messageId !== null && isCanonicalUuid(messageId) ? messageId : this.#nextEventId();
    this.#add(
      "events",
      new Date(timeMs).getUTCFullYear(),
      eventRow({ ...event, user: of.number, account: of.account, id }),
    );
    this.#count(organization, Math.floor(timeMs / msPerDay), Number.parseInt(id.slice(-8), 16));
  }

  user(user: User): void {
    this.#users.set(`${user.organization} ${user.number}`, user);
  }

  version(user: User, news: News): void {
    this.#add("user_versions", 0, userVersionRow(user, news));
    countVersion(this.#versionRows, user);
  }

  account(account: Account): void {
    this.#accounts.set(`${account.organization} ${account.number}`, account);
  }

  accountVersion(account: Account, news: News): void {
    this.#add("account_versions", 0, accountVersionRow(account, news));
    countVersion(this.#accountVersionRows, account);
  }

  /** The rows. To be called once. */
  writes(): Pick<Writes, "inbox" | "versionRows" | "accountVersionRows" | "dayCounts"> {
    for (const user of this.#users.values()) this.#add("users", 0, userRow(user));
    for (const account of this.#accounts.values()) this.#add("accounts", 0, accountRow(account));
    const inbox: InboxRows[] = [];
    for (const { table, year, lines } of this.#lines.values()) {
      const body = `${lines.join("\n")}\n`;
      inbox.push({ table, year, schema: currentSchema[table], rows: lines.length, body });
    }
    return {
      inbox,
      versionRows: [...this.#versionRows.values()],
      ...(this.#accountVersionRows.size > 0 && {
        accountVersionRows: [...this.#accountVersionRows.values()],
      }),
      dayCounts: [...this.#dayCounts.values()],
    };
  }

  /** An id for an event without one: its row in the group, then the transaction. */
  #nextEventId(): string {
    this.#events += 1;
    return `00000000${hex(this.#events, 8)}${hex(this.#stored.transaction, 16)}`;
  }

  #add(table: WarehouseTable, year: number, line: string): void {
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
}

/** Adds a row to an organization's count of versions. */
function countVersion(
  counts: Map<number, VersionRowsOf>,
  { organization, version }: Pick<User, "organization" | "version">,
): void {
  const { rows, versions } = counts.get(organization) ?? { rows: 0, versions: 0 };
  counts.set(organization, { organization, rows: rows + 1, versions: versions + version });
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
