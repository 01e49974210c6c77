/** Stores imported notes and tasks, and finds the users and accounts of imported rows. */
import { type WorkType, workLimits } from "../../../../contract/notes-and-tasks.ts";
import type { Actor, AuditNote } from "../../../ledger/audit.ts";
import { forKeyShare, ids, records, texts } from "../../../ledger/dialect.ts";
import type { Engine } from "../../../ledger/engine.ts";
import { emailKey } from "../../../ledger/rules/email-key.ts";
import {
  count,
  type Fragment,
  integer,
  nullable,
  part,
  RowOf,
  run,
  select,
  sqlText,
  text,
  type Work,
} from "../../../ledger/sql.ts";
import { type EntityNumbers, type EntityRef, isAmongEach } from "../../../ledger/stores/entity-rows.ts";
import { advanceImport, type RejectedRow } from "../../../ledger/stores/imports.ts";
import { lockKnownOrganization } from "../../../ledger/stores/organization-rows.ts";

/** The author or assignee of an imported row: a team member, else a text, else nobody. */
export interface ImportedPerson {
  readonly id: number | null;
  /** Null for a team member. */
  readonly text: string | null;
}

interface ImportedRow {
  /** Counted from 0, as `RejectedRow` counts. */
  readonly row: number;
  readonly entity: EntityRef;
  /** The hash by which the row is known when it is imported again. */
  readonly key: string;
  readonly atMs: number;
  readonly author: ImportedPerson;
}

export interface ImportedNote extends ImportedRow {
  readonly text: string;
}

export interface ImportedTask extends ImportedRow {
  readonly title: string;
  readonly dueDay: number | null;
  readonly assignee: ImportedPerson;
  readonly doneAtMs: number | null;
}

/** The rows of a chunk that were admitted, and those that were not. */
export interface ImportedChunk {
  readonly organization: number;
  readonly importId: number;
  readonly fromRow: number;
  /** All rows of the chunk. */
  readonly rows: number;
  readonly rejected: readonly RejectedRow[];
}

/** Whom rows name. */
export interface NamedInRows {
  readonly userIds: readonly string[];
  readonly emails: readonly string[];
  readonly accountIds: readonly string[];
}

/** The users and accounts that rows name. */
export interface FoundForRows {
  readonly userIds: ReadonlySet<string>;
  /** The user with an address, by `emailKey`, and how many users have it. */
  readonly byEmail: ReadonlyMap<string, { readonly userId: string; readonly users: number }>;
  /** The user through whom each account is contacted: its first owner, else its first user. Null without
   * users. */
  readonly accounts: ReadonlyMap<string, string | null>;
}

const userRow = new RowOf<{ readonly userId: string }>({ userId: text() });
const emailRow = new RowOf<{ readonly key: string; readonly userId: string; readonly users: number }>({
  key: text("email_key"),
  userId: text("min(user_id)"),
  users: integer("count(*)"),
});
const accountRow = new RowOf<{ readonly accountId: string; readonly number: number }>({
  accountId: text(),
  number: integer(),
});
const memberRow = new RowOf<{ readonly account: number; readonly userId: string }>({
  account: integer("users.account"),
  userId: text("users.user_id"),
});
const userNumber = new RowOf<{ readonly id: string; readonly number: number }>({
  id: text("user_id"),
  number: integer(),
});
const accountNumber = new RowOf<{ readonly id: string; readonly number: number }>({
  id: text("account_id"),
  number: integer(),
});
const keyRow = new RowOf<{ readonly key: string | null }>({ key: nullable(text("import_key")) });
const countRow = new RowOf<EntityNumbers & { readonly rows: number }>({
  user: integer("user_number"),
  account: integer("account_number"),
  rows: integer("count(*)"),
});

const singular = { notes: "note", tasks: "task", contacts: "contact", owners: "owner" } as const;

/** The entry of imported rows: one for all of a commit, because a file of years would push all others out of
 * the log. */
export function importedNote(work: WorkType, importId: number, rows: number): AuditNote {
  const one = singular[work];
  const summary = `Imported ${rows} ${rows === 1 ? one : work}`;
  return { action: `${one}.imported`, summary, detail: { import: importId, rows } };
}

/** The store of imported notes and tasks. A chunk, its entry in the audit log and the new position of the
 * import are one commit. */
export function importedWorkStore(engine: Engine) {
  return {
    /** The users and accounts that rows name. */
    find: (organization: number, named: NamedInRows) => engine.snapshot(findNamed(organization, named)),

    /** Which of these keys were imported before. */
    known: async (organization: number, work: "notes" | "tasks", keys: readonly string[]) =>
      engine.alone(findKnown(organization, work, keys)),

    /** @throws Refusal when another run has decided these rows */
    addNotes: (chunk: ImportedChunk, notes: readonly ImportedNote[], by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const decided = yield* decide(chunk, "notes", notes);
        yield* insertNotes(chunk.organization, decided.added);
        const note = importedNote("notes", chunk.importId, decided.added.length);
        if (decided.added.length > 0) yield* audit.note(chunk.organization, note, by, nowMs);
        yield* advanceImport(progressOf(chunk, decided), nowMs);
      }),

    /** @throws Refusal when another run has decided these rows */
    addTasks: (chunk: ImportedChunk, tasks: readonly ImportedTask[], by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const decided = yield* decide(chunk, "tasks", tasks);
        yield* insertTasks(chunk.organization, decided.added);
        const note = importedNote("tasks", chunk.importId, decided.added.length);
        if (decided.added.length > 0) yield* audit.note(chunk.organization, note, by, nowMs);
        yield* advanceImport(progressOf(chunk, decided), nowMs);
      }),
  };
}

export type ImportedWork = ReturnType<typeof importedWorkStore>;

function* findNamed(organization: number, { userIds, emails, accountIds }: NamedInRows): Work<FoundForRows> {
  const users = yield* select(userRow)`
    FROM users WHERE organization = ${organization} AND user_id IN (SELECT text FROM ${texts(userIds)})`;
  const withEmail = yield* select(emailRow)`
    FROM users WHERE organization = ${organization} AND email_key <> ''
      AND email_key IN (SELECT text FROM ${texts(emails.map(emailKey))}) GROUP BY email_key`;
  const accounts = yield* select(accountRow)`
    FROM accounts WHERE organization = ${organization} AND account_id IN (SELECT text FROM ${texts(accountIds)})`;
  const members = accounts.length === 0 ? [] : yield* findContacted(organization, accounts);
  const byAccount = new Map(members.map(({ account, userId }) => [account, userId]));
  return {
    userIds: new Set(users.map(({ userId }) => userId)),
    byEmail: new Map(withEmail.map(({ key, ...one }) => [key, one])),
    accounts: new Map(accounts.map(({ accountId, number }) => [accountId, byAccount.get(number) ?? null])),
  };
}

/** One user of each account. It reads all users of the organization once: there is no index by account, whose
 * upkeep every identify would pay for. */
function findContacted(organization: number, accounts: readonly { readonly number: number }[]) {
  return select(memberRow)`
    FROM users JOIN (
      SELECT account, coalesce(min(CASE WHEN is_account_owner THEN number END), min(number)) AS number
      FROM users WHERE organization = ${organization} AND account > 0
        AND account IN (SELECT id FROM ${ids(accounts.map(({ number }) => number))})
      GROUP BY account) AS chosen ON chosen.number = users.number
    WHERE users.organization = ${organization}`;
}

function* findKnown(
  organization: number,
  table: "notes" | "tasks",
  keys: readonly string[],
): Work<ReadonlySet<string>> {
  const rows = yield* select(keyRow)`
    FROM ${sqlText(table)} WHERE organization = ${organization}
      AND import_key IN (SELECT text FROM ${texts(keys)})`;
  return new Set(rows.flatMap(({ key }) => key ?? []));
}

interface DecidedChunk<Row> {
  readonly added: readonly (Row & EntityNumbers)[];
  readonly duplicates: number;
  readonly rejected: readonly RejectedRow[];
}

function progressOf(chunk: ImportedChunk, { added, duplicates, rejected }: DecidedChunk<ImportedRow>) {
  const { importId, fromRow, rows } = chunk;
  return { importId, fromRow, rows, stored: added.length, duplicates, rejected };
}

/** Which rows are new and within the limits. */
function* decide<Row extends ImportedRow & { readonly doneAtMs?: number | null }>(
  { organization, rejected: before }: ImportedChunk,
  table: "notes" | "tasks",
  rows: readonly Row[],
): Work<DecidedChunk<Row>> {
  yield* lockKnownOrganization(organization);
  const numbersOf = yield* lockEntities(organization, rows);
  const keys = rows.map(({ key }) => key);
  const known = new Set(yield* findKnown(organization, table, keys));
  const room = yield* roomOf(organization, table, [...numbersOf.values()]);
  const rejected: RejectedRow[] = [...before];
  const added: (Row & EntityNumbers)[] = [];
  let duplicates = 0;
  for (const row of rows) {
    const numbers = numbersOf.get(nameOf(row.entity));
    if (known.has(row.key)) {
      duplicates += 1;
      continue;
    }
    const reason = numbers === undefined ? goneReason(row.entity) : room.take(numbers, isOpen(table, row));
    if (numbers === undefined || reason !== undefined) {
      rejected.push({ row: row.row, reason: reason ?? "" });
      continue;
    }
    known.add(row.key);
    added.push({ ...row, ...numbers });
  }
  return { added, duplicates, rejected: rejected.toSorted((a, b) => a.row - b.row) };
}

/** Of an entity that was erased since it was found. */
function goneReason({ kind, id }: EntityRef): string {
  return `${kind}Id ${JSON.stringify(id)} is unknown: import ${kind}s first.`;
}

function isOpen(table: "notes" | "tasks", { doneAtMs }: { readonly doneAtMs?: number | null }): boolean {
  return table === "notes" || doneAtMs === null;
}

const nameOf = ({ kind, id }: EntityRef) => `${kind} ${id}`;

/** The numbers of the entities, which no erasure deletes before the commit. */
function* lockEntities(
  organization: number,
  rows: readonly ImportedRow[],
): Work<ReadonlyMap<string, EntityNumbers>> {
  const idsOf = (kind: EntityRef["kind"]) => [
    ...new Set(rows.flatMap(({ entity }) => (entity.kind === kind ? entity.id : []))),
  ];
  const users = yield* select(userNumber)`
    FROM users WHERE organization = ${organization} AND user_id IN (SELECT text FROM ${texts(idsOf("user"))})
    ${forKeyShare}`;
  const accounts = yield* select(accountNumber)`
    FROM accounts WHERE organization = ${organization}
      AND account_id IN (SELECT text FROM ${texts(idsOf("account"))}) ${forKeyShare}`;
  const numbersOf = new Map<string, EntityNumbers>();
  for (const { id, number } of users) numbersOf.set(`user ${id}`, { user: number, account: 0 });
  for (const { id, number } of accounts) numbersOf.set(`account ${id}`, { user: 0, account: number });
  return numbersOf;
}

interface Room {
  /** Takes the place of a row. @returns why there is none */
  take(numbers: EntityNumbers, isCounted: boolean): string | undefined;
}

/** The places that are left: of notes as `notesPerEntity`, of tasks as `tasksPerEntity` and
 * `openTasksPerOrganization` count them. */
function* roomOf(
  organization: number,
  table: "notes" | "tasks",
  entities: readonly EntityNumbers[],
): Work<Room> {
  const { notesPerEntity, notesPerOrganization, tasksPerEntity, openTasksPerOrganization } = workLimits;
  const isOfNotes = table === "notes";
  const [perEntity, perOrganization] = isOfNotes
    ? [notesPerEntity, notesPerOrganization]
    : [tasksPerEntity, openTasksPerOrganization];
  const open = isOfNotes ? part`` : part`AND done_at_ms IS NULL`;
  let ofOrganization = yield* count`FROM ${sqlText(table)} WHERE organization = ${organization} ${open}`;
  const among = {
    users: entities.flatMap(({ user }) => (user > 0 ? user : [])),
    accounts: entities.flatMap(({ account }) => (account > 0 ? account : [])),
  };
  const counted = yield* select(countRow)`
    FROM ${sqlText(table)} WHERE ${isAmongEach(table, organization, among)}
    GROUP BY user_number, account_number`;
  const key = ({ user, account }: EntityNumbers) => `${user} ${account}`;
  const ofEntities = new Map(counted.map((one) => [key(one), one.rows]));
  return {
    take: (numbers, isCounted) => {
      const ofEntity = ofEntities.get(key(numbers)) ?? 0;
      if (ofEntity >= perEntity) {
        return `there are ${perEntity} ${table} of this ${numbers.user > 0 ? "user" : "account"} already.`;
      }
      if (isCounted && ofOrganization >= perOrganization) {
        return `there are ${perOrganization} ${isOfNotes ? "notes" : "open tasks"} already.`;
      }
      ofEntities.set(key(numbers), ofEntity + 1);
      if (isCounted) ofOrganization += 1;
      return undefined;
    },
  };
}

const commonColumns = {
  at: "bigint",
  user: "bigint",
  account: "bigint",
  creator: "bigint",
  author: "text",
  key: "text",
  place: "bigint",
} as const;

function commonOf(row: ImportedRow & EntityNumbers, place: number) {
  const { user, account, author, key, atMs } = row;
  return { at: atMs, user, account, creator: author.id, author: author.text, key, place };
}

function insertNotes(organization: number, notes: readonly (ImportedNote & EntityNumbers)[]) {
  const given = records(
    notes.map((note, index) => ({ ...commonOf(note, index), text: note.text })),
    { ...commonColumns, text: "text" },
  );
  return run`
    INSERT INTO notes (organization, user_number, account_number, created_by, author, import_key, created_at_ms,
      updated_at_ms, text)
    SELECT ${whole(organization)}, "user", account, creator, author, key, at, at, text FROM ${given} ORDER BY place`;
}

function insertTasks(organization: number, tasks: readonly (ImportedTask & EntityNumbers)[]) {
  const given = records(
    tasks.map((task, index) => ({
      ...commonOf(task, index),
      title: task.title,
      due: task.dueDay,
      assignee: task.assignee.id,
      former: task.assignee.text,
      done: task.doneAtMs,
    })),
    {
      ...commonColumns,
      title: "text",
      due: "bigint",
      assignee: "bigint",
      former: "text",
      done: "bigint",
    },
  );
  return run`
    INSERT INTO tasks (organization, user_number, account_number, created_by, author, import_key, created_at_ms,
      updated_at_ms, title, due_day, assignee, former_assignee, done_at_ms)
    SELECT ${whole(organization)}, "user", account, creator, author, key, at, at, title, due, assignee, former, done
    FROM ${given} ORDER BY place`;
}

/** A number whose type PostgreSQL cannot see in a list of results. */
function whole(value: number): Fragment {
  return part`CAST(${value} AS bigint)`;
}
