/** Rejected events, which tables and names call rejected events: rows that were acknowledged and that the
 * warehouse rejected. They are kept until a member sends them again or drops them. */

import type { Actor } from "../audit.ts";
import type { AuditLog } from "../audit-log.ts";
import {
  advisoryLockShared,
  forKeyShare,
  greatest,
  ids as idsAsRows,
  records,
  storeLocks,
} from "../dialect.ts";
import type { Engine, InboxWriter } from "../engine.ts";
import type { DayCount, InboxRows } from "../inbox.ts";
import { RejectedEventEntries, type RejectedEventEntry } from "../rules/rejected-event-entries.ts";
import {
  countsOf,
  type MissingRows,
  type NumberedVersion,
  noRejectedEvent,
  type RejectedEventRow,
  type RejectedEventSelection,
  ResentEvents,
  takenAway,
  type VersionRows,
  versionsOf,
  type WhoseRejectedEvents,
  withinBytes,
} from "../rules/rejected-event-facts.ts";
import { count, type Fragment, integer, part, RowOf, run, select, text, type Work } from "../sql.ts";
import { addAccountVersionRows, addDayCounts, addVersionRows } from "./counts.ts";
import { isThere } from "./organization-rows.ts";
import { isOfAccounts, lockRejectedEvents, storedRow, takeRows } from "./rejected-event-rows.ts";

const sized = new RowOf<{ readonly id: number; readonly bytes: number }>({ id: integer(), bytes: integer() });
const newestId = new RowOf<{ readonly id: number }>({ id: integer("coalesce(max(id), 0)") });
const timezone = new RowOf<{ readonly id: number; readonly timezone: string }>({
  id: integer(),
  timezone: text(),
});
const missingDay = new RowOf<DayCount>({
  organization: integer(),
  utcDay: integer(),
  events: integer("count(*)"),
  checksum: integer("CAST(sum(checksum) % 4294967296 AS bigint)"),
});
const missingVersionRows = new RowOf<VersionRows>({
  rows: integer("count(*)"),
  versions: integer("CAST(coalesce(sum(version), 0) AS bigint)"),
});
const missingVersion = new RowOf<NumberedVersion>({ number: integer(), version: integer("max(version)") });

/** Rows of this organization. 0 selects the rows of all organizations. */
const ofOrganization = (organization: number) =>
  organization === 0 ? part`1 = 1` : part`organization = ${organization}`;
/** Leaves out rows that a pending erasure will delete: a row that is sent again meanwhile would come after
 * it. */
const notErased = part`NOT EXISTS (
  SELECT 1 FROM erasures
  WHERE erasures.organization = rejected_events.organization
    AND (erasures.account > 0 AND erasures.state = 'begun'
      OR CASE WHEN ${isOfAccounts} THEN erasures.account ELSE erasures."user" END = rejected_events.number))`;

/** A step of a change, inside its transaction. It gets the function that deletes and returns the next rows.
 * @returns the rows that it deleted, and those that it added to the inbox */
type Step = (
  take: () => Work<readonly RejectedEventRow[]>,
) => Work<{ readonly taken: readonly RejectedEventRow[]; readonly added: readonly InboxRows[] }>;

/** The store of rejected events. Changes are made in several commits. Each organization's log has one entry
 * of a change: see rejected-event-entries.ts. */
export function rejectedEventStore(engine: Engine, inbox: InboxWriter) {
  const resent = new ResentEvents();
  return {
    /** The newest first. */
    list: ({ organization = 0 }: WhoseRejectedEvents, limit: number) =>
      engine.alone(
        select(storedRow)`
          FROM rejected_events WHERE ${ofOrganization(organization)} ORDER BY id DESC LIMIT ${limit}`,
      ),

    count: ({ organization = 0 }: WhoseRejectedEvents) =>
      engine.alone(count`FROM rejected_events WHERE ${ofOrganization(organization)}`),

    /** Puts rows into the inbox again. Events get their day in the present timezone. The same commit deletes
     * a row from the rejected events and adds it to the inbox. @returns their number. @throws Refusal for an
     * unknown id. */
    retry: (selection: RejectedEventSelection, by: Actor, nowMs: number) =>
      changeInSteps(
        engine,
        inbox,
        new RejectedEventEntries("retry", selection, by, nowMs),
        selection,
        function* (take) {
          yield* advisoryLockShared(storeLocks.inbox);
          const taken = yield* take();
          const timezones = yield* timezonesOf(taken);
          const added = resent.inboxRows(taken, (organization) => timezones.get(organization));
          yield* inbox.append(added);
          return { taken, added };
        },
      ),

    /** Deletes rows permanently, and subtracts them from the counts of acknowledged rows. @returns their
     * number.
     * @throws Refusal for an unknown id. */
    drop: (selection: RejectedEventSelection, by: Actor, nowMs: number) =>
      changeInSteps(
        engine,
        inbox,
        new RejectedEventEntries("drop", selection, by, nowMs),
        selection,
        function* (take) {
          const taken = yield* take();
          yield* subtract(taken);
          return { taken, added: [] };
        },
      ),

    missing: (organization: number) => engine.snapshot(findMissing(organization)),
  };
}

export type RejectedEventStore = ReturnType<typeof rejectedEventStore>;

/** Deletes the selected rows in steps. Each step is one commit with its entries of the audit log.
 * @returns the number of rows */
async function changeInSteps(
  engine: Engine,
  inbox: InboxWriter,
  entries: RejectedEventEntries,
  selection: RejectedEventSelection,
  step: Step,
): Promise<number> {
  const selected = await engine.alone(selectedRows(selection));
  let done = 0;
  for (let after = 0; ; await engine.nextTurn()) {
    const next = part`FROM rejected_events WHERE ${selected} AND id > ${after} ORDER BY id`;
    inbox.flush();
    const { taken } = await engine.transaction(
      function* (audit) {
        const stepped = yield* step(() => takeNext(next, inbox.partLimits));
        return { ...stepped, written: yield* note(audit, entries, stepped.taken) };
      },
      ({ added, written }) => {
        inbox.appended(added);
        entries.committed(written);
      },
    );
    const last = taken.at(-1);
    if (last === undefined) return done;
    after = last.id;
    done += taken.length;
  }
}

function* takeNext(next: Fragment, { rows, bytes }: InboxWriter["partLimits"]) {
  yield* lockRejectedEvents();
  const found = yield* select(sized)`${next} LIMIT ${rows}`;
  return yield* takeRows(withinBytes(found, bytes).map(({ id }) => id));
}

/** The condition of the selected rows, without those that are stored meanwhile. @throws Refusal for an
 * unknown id */
function* selectedRows({ organization = 0, ids }: RejectedEventSelection) {
  const [newest] = yield* select(newestId)`FROM rejected_events`;
  const open = part`${ofOrganization(organization)} AND ${notErased} AND id <= ${newest?.id ?? 0}`;
  if (ids === undefined) return open;
  const named = part`${open} AND id IN (SELECT id FROM ${idsAsRows(ids)})`;
  const found = new Set((yield* select(sized)`FROM rejected_events WHERE ${named}`).map(({ id }) => id));
  const unknown = ids.find((id) => !found.has(id));
  if (unknown !== undefined) throw noRejectedEvent(unknown);
  return named;
}

/** Writes the entries of a step. A row may name an organization that does not exist. */
function* note(
  audit: AuditLog,
  entries: RejectedEventEntries,
  taken: readonly RejectedEventRow[],
): Work<readonly RejectedEventEntry[]> {
  const timezones = yield* timezonesOf(taken);
  const written: RejectedEventEntry[] = [];
  for (const entry of entries.after(taken)) {
    const { organization, id, note } = entry;
    if (!timezones.has(organization)) continue;
    if (id !== undefined) yield* audit.update(id, note, entries.by);
    const added = id ?? (yield* audit.note(organization, note, entries.by, entries.atMs));
    written.push({ ...entry, id: added });
  }
  return written;
}

/** Subtracts rows from the counts of acknowledged rows. The user or account itself stays in the ledger, and
 * its next version reaches the warehouse whole. So only the dropped version is stored. */
function* subtract(taken: readonly RejectedEventRow[]): Work<void> {
  const timezones = yield* timezonesOf(taken);
  const rows = taken.filter(({ organization }) => timezones.has(organization));
  const { dayCounts, versionRows, accountVersionRows } = countsOf(rows);
  const counted = [...versionRows, ...accountVersionRows].map(({ organization }) => organization);
  // The rows of `populations` are locked in the same order everywhere.
  for (const organization of [...new Set(counted)].toSorted((one, other) => one - other)) {
    const negative = (counts: typeof versionRows) => {
      const own = counts.filter((row) => row.organization === organization);
      return { rows: -own.length, versions: -own.reduce((sum, row) => sum + row.versions, 0) };
    };
    yield* addVersionRows(organization, negative(versionRows));
    yield* addAccountVersionRows(organization, negative(accountVersionRows));
  }
  yield* addDayCounts(takenAway(dayCounts));
  yield* run`
    INSERT INTO dropped_versions AS stored (organization, warehouse_table, number, version)
    SELECT organization, "table", number, max(version)
    FROM ${records(versionsOf(rows), { organization: "bigint", table: "text", number: "bigint", version: "bigint" })}
    GROUP BY organization, "table", number
    ON CONFLICT (organization, warehouse_table, number) DO UPDATE SET
      version = ${greatest}(stored.version, excluded.version)`;
}

function* findMissing(organization: number): Work<MissingRows> {
  const own = part`FROM rejected_events WHERE organization = ${organization}`;
  const events = yield* select(missingDay)`
    ${own} AND warehouse_table = 'events' AND utc_day IS NOT NULL GROUP BY organization, utc_day ORDER BY utc_day`;
  const [userVersions] = yield* select(missingVersionRows)`${own} AND warehouse_table = 'user_versions'`;
  const [accountVersions] = yield* select(
    missingVersionRows,
  )`${own} AND warehouse_table = 'account_versions'`;
  const versions = (table: "users" | "accounts") => select(missingVersion)`
    FROM (
      SELECT number, version ${own} AND warehouse_table = ${table} AND number IS NOT NULL AND version IS NOT NULL
      UNION ALL
      SELECT number, version FROM dropped_versions
      WHERE organization = ${organization} AND warehouse_table = ${table}) AS missing
    GROUP BY number ORDER BY number`;
  return {
    rejectedEvents: yield* count`${own}`,
    events,
    userVersions: userVersions ?? { rows: 0, versions: 0 },
    accountVersions: accountVersions ?? { rows: 0, versions: 0 },
    users: yield* versions("users"),
    accounts: yield* versions("accounts"),
  };
}

/** The timezones of the rows' existing organizations. These cannot be deleted before the commit. */
function* timezonesOf(taken: readonly RejectedEventRow[]): Work<ReadonlyMap<number, string>> {
  const ids = [...new Set(taken.map(({ organization }) => organization))];
  const found = yield* select(timezone)`
    FROM organizations WHERE id IN (SELECT id FROM ${idsAsRows(ids)}) AND ${isThere} ORDER BY id ${forKeyShare}`;
  return new Map(found.map((row) => [row.id, row.timezone]));
}
