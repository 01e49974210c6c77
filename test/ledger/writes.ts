/** The small requests that the ledger's tests make: what they need, and a decision for each. */
import type {
  Account,
  InboxRows,
  Ledger,
  MessageKey,
  Needs,
  Stored,
  User,
  Writes,
} from "../../server/ledger/ledger.ts";

const nothingNeeded: Needs = { known: [], users: [], accounts: [], messageIds: [] };
const noWrites: Omit<Writes, "nowMs"> = {
  users: [],
  accounts: [],
  inbox: [],
  versionRows: [],
  messageIds: [],
  dayCounts: [],
};

export function needs(some: Partial<Needs>): Needs {
  return { ...nothingNeeded, ...some };
}

export function writes(nowMs: number, some: Partial<Writes>): Writes {
  return { ...noWrites, ...some, nowMs };
}

/** Rows of one table in one body, as intake writes them: a JSON array a line. */
export function inboxRows(lines: readonly string[], some: Partial<InboxRows> = {}): InboxRows {
  const body = lines.map((line) => `${JSON.stringify([line])}\n`).join("");
  return { table: "events", year: 2026, schema: 1, ...some, rows: lines.length, body };
}

export function user(organization: number, userId: string, some: Partial<User> = {}): User {
  return {
    organization,
    userId,
    number: 1,
    email: "ada@example.com",
    traits: {},
    isAccountOwner: null,
    account: 0,
    firstIdentifiedAtMs: 1_000,
    saidAtMs: 1_000,
    fieldsSaidAtMs: {},
    updatedAtMs: 1_000,
    version: 1,
    ...some,
  };
}

export function account(organization: number, accountId: string, some: Partial<Account> = {}): Account {
  return {
    organization,
    accountId,
    number: 1,
    name: "Analytical Engines",
    avatar: null,
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    version: 1,
    ...some,
  };
}

/** Appends one inbox row. */
export function append(ledger: Ledger, rows: InboxRows, nowMs = 1_000): Promise<void> {
  return ledger.transact(nothingNeeded, () => writes(nowMs, { inbox: [rows] }));
}

/** Writes users and accounts as they are given. */
export function writePeople(ledger: Ledger, people: { users?: User[]; accounts?: Account[] }): Promise<void> {
  return ledger.transact(needs(people), () => writes(1_000, people));
}

/** Asks what is stored, and writes nothing. */
export async function look<Found>(
  ledger: Ledger,
  needed: Partial<Needs>,
  find: (stored: Stored) => Found,
): Promise<Found> {
  const found: Found[] = [];
  await ledger.transact(needs(needed), (stored) => {
    found.push(find(stored));
    return writes(1_000, {});
  });
  for (const answer of found) return answer;
  throw new Error("the ledger resolved without deciding");
}

/** Writes message ids that are not remembered; @returns those that are. */
export async function remember(
  ledger: Ledger,
  messageIds: readonly MessageKey[],
  nowMs: number,
): Promise<readonly MessageKey[]> {
  let duplicates: readonly MessageKey[] = [];
  await ledger.transact(needs({ messageIds }), (stored) => {
    duplicates = messageIds.filter((key) => stored.remembers(key));
    return writes(nowMs, { messageIds: messageIds.filter((key) => !stored.remembers(key)) });
  });
  return duplicates;
}
