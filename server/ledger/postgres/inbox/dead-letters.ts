/** Lists rejected events, sends them again, and drops them. `finish` of the inbox writes them, in the commit that
 * finishes their batch. */
import type { Actor } from "../../ports/audit.ts";
import type {
  DeadLetterSelection,
  DeadLetterStore,
  MissingRows,
  NumberedVersion,
  StoredDeadLetter,
  VersionRows,
} from "../../ports/dead-letters.ts";
import type { DayCount } from "../../ports/inbox.ts";
import { LetterEntries, type LetterEntry } from "../../rules/dead-letter-entries.ts";
import {
  type BuriedLetter,
  countsOf,
  LettersAgain,
  noDeadLetter,
  takenAway,
  versionsOf,
  withinBytes,
} from "../../rules/dead-letter-facts.ts";
import type { AuditLog } from "../../stores/engine/audit-log.ts";
import type { Queries, Sql, Tx } from "../client/connect.ts";
import { runOn } from "../client/store-engine.ts";
import { restored } from "../client/text.ts";
import { inTransaction, notInOrder, repeated } from "../client/transaction.ts";
import { addDayCounts, addVersionRows } from "../write/counts.ts";
import { lockDeadLetters } from "./dead-letter-rows.ts";
import { appendRows, joinInbox } from "./inbox-segments.ts";

const stepRows = 2_000;
const stepBytes = 8 * 1024 * 1024;
/** A slot of `day_counts`. Any slot is right, because no request waits for this. */
const slot = 0;

/** Deletes and returns the selected letters of one step, in the order of their ids.
 * @param after the last id of the step before */
type TakeNext = (tx: Tx, after: number) => Promise<readonly BuriedLetter[]>;

export class PostgresDeadLetters implements DeadLetterStore {
  readonly #sql: Sql;
  readonly #audit: AuditLog;
  readonly #again = new LettersAgain();

  constructor(sql: Sql, audit: AuditLog) {
    this.#sql = sql;
    this.#audit = audit;
  }

  async list({ organization = 0 }: DeadLetterSelection, limit: number): Promise<readonly StoredDeadLetter[]> {
    const sql = this.#sql;
    const rows = await sql<StoredDeadLetter[]>`
      SELECT id, organization, at_ms AS "atMs", warehouse_table AS "table", row, reason
      FROM dead_letters WHERE ${ofOrganization(sql, organization)} ORDER BY id DESC LIMIT ${limit}`;
    return rows.map((letter) => ({ ...letter, row: restored(letter.row), reason: restored(letter.reason) }));
  }

  async count({ organization = 0 }: DeadLetterSelection): Promise<number> {
    const sql = this.#sql;
    const [found] = await sql<{ count: number }[]>`
      SELECT count(*) AS count FROM dead_letters WHERE ${ofOrganization(sql, organization)}`;
    return found?.count ?? 0;
  }

  retry(selection: DeadLetterSelection, by: Actor, nowMs: number): Promise<number> {
    const entries = new LetterEntries("retry", selection, by, nowMs);
    return this.#inSteps(selection, entries, async (tx, take) => {
      const segment = await joinInbox(tx);
      const letters = await take();
      const timezones = await timezonesOf(tx, letters);
      const again = this.#again.inboxRows(letters, (organization) => timezones.get(organization));
      await Promise.all(appendRows(tx, segment, again));
      return letters;
    });
  }

  drop(selection: DeadLetterSelection, by: Actor, nowMs: number): Promise<number> {
    const entries = new LetterEntries("drop", selection, by, nowMs);
    return this.#inSteps(selection, entries, async (tx, take) => {
      const letters = await take();
      await forget(tx, letters);
      return letters;
    });
  }

  missing(organization: number): Promise<MissingRows> {
    return inTransaction(
      this.#sql,
      (tx) => missingOf(tx, organization),
      "ISOLATION LEVEL REPEATABLE READ READ ONLY",
    );
  }

  /** Runs `work` with some of the selected letters in a commit with the entries, until none is left. */
  async #inSteps(
    selection: DeadLetterSelection,
    entries: LetterEntries,
    work: (tx: Tx, take: () => Promise<readonly BuriedLetter[]>) => Promise<readonly BuriedLetter[]>,
  ): Promise<number> {
    const next = await reader(this.#sql, selection);
    let done = 0;
    for (let after = 0; ; ) {
      const behind = after;
      const { taken, written } = await repeated(
        () =>
          inTransaction(this.#sql, async (tx) => {
            const letters = await work(tx, () => next(tx, behind));
            return { taken: letters, written: await this.#note(tx, entries, letters) };
          }),
        notInOrder,
      );
      entries.committed(written);
      const last = taken.at(-1);
      if (last === undefined) return done;
      after = last.id;
      done += taken.length;
    }
  }

  /** Writes the entries of a step. */
  async #note(
    tx: Tx,
    entries: LetterEntries,
    letters: readonly BuriedLetter[],
  ): Promise<readonly LetterEntry[]> {
    const timezones = await timezonesOf(tx, letters);
    const written: LetterEntry[] = [];
    for (const entry of entries.after(letters)) {
      const { organization, id, note } = entry;
      if (!timezones.has(organization)) continue;
      if (id !== undefined) await runOn(tx, this.#audit.update(id, note, entries.by));
      const added = id ?? (await runOn(tx, this.#audit.note(organization, note, entries.by, entries.atMs)));
      written.push({ ...entry, id: added });
    }
    return written;
  }
}

/** Reads the selected letters in steps, without those that are stored meanwhile. */
async function reader(sql: Sql, { organization = 0, ids }: DeadLetterSelection): Promise<TakeNext> {
  const whose = (queries: Queries) =>
    queries`${ofOrganization(queries, organization)} AND ${notErased(queries)}`;
  const named = ids === undefined ? undefined : [...new Set(ids)];
  if (named !== undefined) {
    const found = await sql<{ id: number }[]>`
      SELECT id FROM dead_letters WHERE id = ANY (${named}::bigint[]) AND ${whose(sql)}`;
    const known = new Set(found.map(({ id }) => id));
    const unknown = named.find((id) => !known.has(id));
    if (unknown !== undefined) throw noDeadLetter(unknown);
  }
  const [newest] = await sql<{ id: number }[]>`SELECT coalesce(max(id), 0) AS id FROM dead_letters`;
  return async (tx, after) => {
    await lockDeadLetters(tx);
    const found = await tx<{ id: number; bytes: number }[]>`
      SELECT id, bytes FROM dead_letters
      WHERE id > ${after} AND id <= ${newest?.id ?? 0} AND ${whose(tx)}
        AND ${named === undefined ? tx`true` : tx`id = ANY (${named}::bigint[])`}
      ORDER BY id LIMIT ${stepRows}`;
    const step = withinBytes(found, stepBytes).map(({ id }) => id);
    return step.length === 0 ? [] : take(tx, step);
  };
}

async function take(tx: Tx, ids: readonly number[]): Promise<readonly BuriedLetter[]> {
  const letters = await tx<BuriedLetter[]>`
    DELETE FROM dead_letters WHERE id = ANY (${ids as number[]}::bigint[])
    RETURNING id, organization, warehouse_table AS "table", schema, year, bytes, utc_day AS "utcDay", checksum, number,
      version, row`;
  return letters
    .map((letter) => ({ ...letter, row: restored(letter.row) }))
    .toSorted((one, other) => one.id - other.id);
}

/** Subtracts rows from the counts of acknowledged rows. The user or account itself stays in the ledger, and its next
 * version reaches the warehouse whole. So only the dropped version is stored. */
async function forget(tx: Tx, taken: readonly BuriedLetter[]): Promise<void> {
  const timezones = await timezonesOf(tx, taken);
  const letters = taken.filter(({ organization }) => timezones.has(organization));
  const { dayCounts, versionRows } = countsOf(letters);
  const byOrganization = [...Map.groupBy(versionRows, (row) => row.organization)];
  // The rows of `populations` are locked in the same order everywhere.
  for (const [organization, rows] of byOrganization.toSorted(([one], [other]) => one - other)) {
    const versions = rows.reduce((sum, row) => sum + row.versions, 0);
    await addVersionRows(tx, organization, { rows: -rows.length, versions: -versions });
  }
  await addDayCounts(tx, takenAway(dayCounts), slot);
  await tx`
    INSERT INTO dropped_versions AS stored (organization, warehouse_table, number, version)
    SELECT organization, "table", number, max(version)
    FROM json_to_recordset(${JSON.stringify(versionsOf(letters))}::text::json)
      AS given (organization bigint, "table" text, number bigint, version bigint)
    GROUP BY organization, "table", number
    ON CONFLICT (organization, warehouse_table, number) DO UPDATE SET
      version = greatest(stored.version, excluded.version)`;
}

async function missingOf(tx: Tx, organization: number): Promise<MissingRows> {
  const [count] = await tx<{ count: number }[]>`
    SELECT count(*) AS count FROM dead_letters WHERE organization = ${organization}`;
  const events = await tx<DayCount[]>`
    SELECT organization, utc_day AS "utcDay", count(*) AS events, (sum(checksum) % 4294967296)::bigint AS checksum
    FROM dead_letters
    WHERE organization = ${organization} AND warehouse_table = 'events' AND utc_day IS NOT NULL
    GROUP BY organization, utc_day ORDER BY utc_day`;
  const [versionRows] = await tx<VersionRows[]>`
    SELECT count(*) AS rows, coalesce(sum(version), 0)::bigint AS versions
    FROM dead_letters WHERE organization = ${organization} AND warehouse_table = 'user_versions'`;
  const versions = (table: "users" | "accounts") => tx<NumberedVersion[]>`
    SELECT number, max(version) AS version FROM (
      SELECT number, version FROM dead_letters
      WHERE organization = ${organization} AND warehouse_table = ${table}
        AND number IS NOT NULL AND version IS NOT NULL
      UNION ALL
      SELECT number, version FROM dropped_versions
      WHERE organization = ${organization} AND warehouse_table = ${table}) AS missing
    GROUP BY number ORDER BY number`;
  return {
    deadLetters: count?.count ?? 0,
    events: [...events],
    userVersions: versionRows ?? { rows: 0, versions: 0 },
    users: [...(await versions("users"))],
    accounts: [...(await versions("accounts"))],
  };
}

/** The timezones of the letters' existing organizations. They cannot be deleted before the commit. */
async function timezonesOf(tx: Tx, letters: readonly BuriedLetter[]): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set(letters.map(({ organization }) => organization))];
  const found = await tx<{ id: number; timezone: string }[]>`
    SELECT id, timezone FROM organizations WHERE id = ANY (${ids}::bigint[]) ORDER BY id FOR KEY SHARE`;
  return new Map(found.map(({ id, timezone }) => [id, timezone]));
}

/** Organization 0 selects the rows of all organizations. */
function ofOrganization(queries: Queries, organization: number) {
  return organization === 0 ? queries`true` : queries`organization = ${organization}`;
}

/** Leaves out rows that a pending erasure will delete: a row that is sent again meanwhile would come after it. */
function notErased(queries: Queries) {
  return queries`NOT EXISTS (
    SELECT FROM erasures
    WHERE erasures.organization = dead_letters.organization
      AND (erasures.account > 0 AND erasures.state = 'begun'
        OR CASE warehouse_table WHEN 'accounts' THEN erasures.account ELSE erasures."user" END = dead_letters.number))`;
}
