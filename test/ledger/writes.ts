/** The small requests that the ledger's tests make: what they need, and a decision for each. */
import type { Account, User } from "../../server/ledger/entities.ts";
import type { InboxRows } from "../../server/ledger/inbox.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import type { Message, MessageKey, Needs, Stored, Writes } from "../../server/ledger/transact.ts";

const nothingNeeded: Needs = { known: [], users: [], accounts: [], messageIds: [], people: [], labels: [] };
const noWrites: Omit<Writes, "nowMs"> = {
  users: [],
  accounts: [],
  inbox: [],
  versionRows: [],
  messages: [],
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
    timestampMs: 1_000,
    fieldTimestampsMs: {},
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
    traits: {},
    timestampMs: 1_000,
    fieldTimestampsMs: {},
    createdAtMs: 1_000,
    updatedAtMs: 1_000,
    version: 1,
    ...some,
  };
}

/** Appends rows of events to the journal, and others to the inbox. */
export function append(ledger: Ledger, rows: InboxRows, nowMs = 1_000): Promise<void> {
  return ledger.transact(nothingNeeded, () => writes(nowMs, { inbox: [rows] }));
}

/** Appends one inbox row, which is not put together with others. */
export async function appendAlone(ledger: Ledger, rows: InboxRows, nowMs = 1_000): Promise<void> {
  await append(ledger, rows, nowMs);
  await ledger.flush();
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
  // Only the last decision counts.
  for (const answer of found.toReversed()) return answer;
  throw new Error("the ledger resolved without deciding");
}

/** Writes message ids that are not remembered, of a row each. @returns those that are */
export async function remember(
  ledger: Ledger,
  messageIds: readonly MessageKey[],
  nowMs: number,
): Promise<readonly MessageKey[]> {
  let duplicates: readonly MessageKey[] = [];
  await ledger.transact(needs({ messageIds }), (stored) => {
    const looked = messageIds.map((key) => ({ key, message: messageOf(stored, key) }));
    duplicates = looked.filter(({ message }) => message.remembered).map(({ key }) => key);
    const messages = looked.map(({ message }) => message).filter(({ remembered }) => !remembered);
    const inbox = messages.length === 0 ? [] : [inboxRows(messages.map((_, n) => `${n}`))];
    return writes(nowMs, { messages, inbox });
  });
  return duplicates;
}

/** The stored state of a message id. */
export function messageOf(
  stored: Stored,
  { organization, kind, messageId, lastingDay }: MessageKey,
): Message {
  return stored.message({ organization, kind, messageId, lastingDay });
}
