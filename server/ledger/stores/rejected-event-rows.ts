/** The rows of rejected events, inside the caller's transaction. The inbox adds them, and erasures delete
 * from them. On PostgreSQL a transaction that changes the table holds its lock until the commit, so that no
 * row is read twice. Such changes are rare. */

import { ids as idsAsRows, positionIn, records } from "../dialect.ts";
import type { RejectedEvent } from "../inbox.ts";
import {
  bytesOfRow,
  type CountedRow,
  factsOf,
  type RejectedEventLimits,
  type RejectedEventRow,
  refuseFull,
  rowWithoutAccount,
  type StoredRejectedEvent,
} from "../rules/rejected-event-facts.ts";
import { beginningOfRow } from "../rules/user-rows.ts";
import {
  integer,
  nullable,
  part,
  perEngine,
  RowOf,
  returning,
  run,
  select,
  text,
  type Work,
  word,
} from "../sql.ts";

interface Batch {
  readonly number: number;
  readonly year: number;
  readonly schema: number;
}

const counted = {
  table: word<RejectedEventRow["table"]>("warehouse_table"),
  organization: integer(),
  utcDay: nullable(integer()),
  checksum: nullable(integer()),
  version: nullable(integer()),
};
interface CountedOfUser extends CountedRow {
  readonly number: number;
}

const countedOfUserRow = new RowOf<CountedOfUser>({ ...counted, number: integer() });
/** Selects rows of accounts. Others are those of users. */
export const isOfAccounts = part`warehouse_table IN ('accounts', 'account_versions')`;
/** As many characters as two numbers and their punctuation have at most. */
const beginningRow = new RowOf<{ readonly id: number; readonly beginning: string }>({
  id: integer(),
  beginning: text("substr(row, 1, 40)"),
});
const rejectedRow = new RowOf<RejectedEventRow>({
  ...counted,
  id: integer(),
  schema: integer(),
  year: integer(),
  bytes: integer(),
  number: nullable(integer()),
  row: text(),
});
const namingRow = new RowOf<Pick<RejectedEventRow, "id" | "table" | "schema" | "row">>({
  id: integer(),
  table: counted.table,
  schema: integer(),
  row: text(),
});
/** A rejected event as it is listed. */
export const storedRow = new RowOf<StoredRejectedEvent>({
  id: integer(),
  organization: integer(),
  atMs: integer(),
  table: word("warehouse_table"),
  row: text(),
  reason: text(),
});
const totals = new RowOf<{ readonly rows: number; readonly bytes: number }>({
  rows: integer("count(*)"),
  bytes: integer("CAST(coalesce(sum(bytes), 0) AS bigint)"),
});

/** The text of one statement. Its JSON may be several times as long. */
const addedAtOnceBytes = 8 * 1024 * 1024;

/** Locks the table for changes. Readers do not wait for it. */
export function lockRejectedEvents() {
  return run`${perEngine({ sqlite: "", postgres: "LOCK TABLE rejected_events IN SHARE ROW EXCLUSIVE MODE" })}`;
}

/** Adds the rejected rows of a batch. @throws Refusal when there is no room */
export function* addRejectedEvents(
  batch: Batch,
  rejected: readonly RejectedEvent[],
  { limits, nowMs }: { readonly limits: RejectedEventLimits; readonly nowMs: number },
): Work<void> {
  if (rejected.length === 0) return;
  yield* lockRejectedEvents();
  const [stored] = yield* select(totals)`FROM rejected_events`;
  refuseFull(rejected, stored ?? { rows: 0, bytes: 0 }, limits);
  let rows: object[] = [];
  let bytes = 0;
  for (const { table, row, reason } of rejected) {
    const rowBytes = bytesOfRow(row);
    rows.push({ ...factsOf(table, batch.schema, row), table, row, reason, bytes: rowBytes });
    bytes += rowBytes;
    if (bytes < addedAtOnceBytes) continue;
    yield* insert(batch, rows, nowMs);
    rows = [];
    bytes = 0;
  }
  if (rows.length > 0) yield* insert(batch, rows, nowMs);
}

function insert({ number, year, schema }: Batch, rows: readonly object[], nowMs: number) {
  const given = records(rows, {
    table: "text",
    row: "text",
    reason: "text",
    bytes: "bigint",
    organization: "bigint",
    utcDay: "bigint",
    checksum: "bigint",
    number: "bigint",
    version: "bigint",
  });
  return run`
    INSERT INTO rejected_events (at_ms, batch, year, schema, warehouse_table, row, reason, bytes, organization, utc_day,
      checksum, number, version)
    SELECT CAST(${nowMs} AS bigint), CAST(${number} AS bigint), CAST(${year} AS integer), CAST(${schema} AS integer),
      "table", "row", reason, bytes, organization, "utcDay", checksum, number, version
    FROM ${given}`;
}

/** Deletes rows. @returns them in the order of their ids */
export function* takeRows(ids: readonly number[]): Work<readonly RejectedEventRow[]> {
  if (ids.length === 0) return [];
  const rows = yield* returning(rejectedRow)`
    DELETE FROM rejected_events WHERE id IN (SELECT id FROM ${idsAsRows(ids)})`;
  return rows.toSorted((one, other) => one.id - other.id);
}

/** Deletes the rejected events of an organization's users, and the stored versions of dropped ones.
 * @returns the deleted events by the user's number. Users without any are left out */
export function* takeRowsOfUsers(
  organization: number,
  users: readonly number[],
): Work<ReadonlyMap<number, readonly CountedRow[]>> {
  yield* lockRejectedEvents();
  const readable = yield* returning(countedOfUserRow)`
    DELETE FROM rejected_events
    WHERE organization = ${organization} AND NOT ${isOfAccounts}
      AND number IN (SELECT id FROM ${idsAsRows(users)})`;
  const byUser = new Map<number, readonly CountedRow[]>(Map.groupBy(readable, ({ number }) => number));
  for (const [user, ids] of yield* unreadableRowsOf(organization, users)) {
    byUser.set(user, [...(byUser.get(user) ?? []), ...(yield* takeRows(ids))]);
  }
  yield* deleteDropped(organization, "users", users);
  return byUser;
}

/** Rejected events of a user, in the order of their ids. @param after only ids above it */
export function* findRowsOfUser(
  organization: number,
  user: number,
  after: number,
  limit: number,
): Work<readonly StoredRejectedEvent[]> {
  const unreadable = (yield* unreadableRowsOf(organization, [user])).get(user) ?? [];
  return yield* select(storedRow)`
    FROM rejected_events
    WHERE id > ${after} AND (organization = ${organization} AND NOT ${isOfAccounts} AND number = ${user}
      OR id IN (SELECT id FROM ${idsAsRows(unreadable)}))
    ORDER BY id LIMIT ${limit}`;
}

/** The ids of rows without a readable organization or user. Such a row is recognized by its beginning. */
function* unreadableRowsOf(
  organization: number,
  users: readonly number[],
): Work<ReadonlyMap<number, readonly number[]>> {
  const rows = yield* select(beginningRow)`
    FROM rejected_events
    WHERE organization IN (0, ${organization}) AND NOT ${isOfAccounts}
      AND (organization = 0 OR number IS NULL) ORDER BY id`;
  const userOf = new Map(users.map((user) => [beginningOfRow(organization, user), user]));
  const ids = new Map<number, number[]>();
  for (const { id, beginning } of rows) {
    const user = userOf.get(/^\[\d+,\d+,/.exec(beginning)?.[0] ?? "");
    if (user !== undefined) ids.set(user, [...(ids.get(user) ?? []), id]);
  }
  return ids;
}

/** Deletes an account's rejected events, and removes it from those of users.
 * @returns the number of both, and the deleted rows */
export function* takeRowsOfAccount(
  organization: number,
  account: number,
): Work<{ readonly rows: number; readonly deleted: readonly CountedRow[] }> {
  yield* lockRejectedEvents();
  const deleted = yield* returning(countedOfUserRow)`
    DELETE FROM rejected_events
    WHERE organization = ${organization} AND ${isOfAccounts} AND number = ${account}`;
  yield* deleteDropped(organization, "accounts", [account]);
  // Rows of users contain the account's number in JSON's form.
  const naming = yield* select(namingRow)`
    FROM rejected_events WHERE organization IN (0, ${organization}) AND NOT ${isOfAccounts}
      AND ${positionIn}(row, ${String(account)}) > 0`;
  let changed = 0;
  for (const one of naming) {
    const row = rowWithoutAccount(one, account);
    if (row === undefined || !row.startsWith(`[${organization},`)) continue;
    yield* run`UPDATE rejected_events SET row = ${row}, bytes = ${bytesOfRow(row)} WHERE id = ${one.id}`;
    changed += 1;
  }
  return { rows: deleted.length + changed, deleted };
}

/** Deletes the rejected events whose organization cannot be read, and whose row begins with it. */
export function deleteUnreadableRows(organization: number) {
  return run`DELETE FROM rejected_events WHERE organization = 0 AND ${beginsWith(`[${organization},`)}`;
}

function deleteDropped(organization: number, table: "users" | "accounts", numbers: readonly number[]) {
  return run`
    DELETE FROM dropped_versions
    WHERE organization = ${organization} AND warehouse_table = ${table}
      AND number IN (SELECT id FROM ${idsAsRows(numbers)})`;
}

function beginsWith(beginning: string) {
  return part`substr(row, 1, ${beginning.length}) = ${beginning}`;
}
