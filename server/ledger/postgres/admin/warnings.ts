/** Ingestion warnings as they are stored: a row for each organization, UTC day, kind, endpoint and detail. */
import { msPerDay } from "../../../calendar/calendar.ts";
import { personKinds } from "../../ports/parking.ts";
import {
  type IngestionWarning,
  maxWarningDetails,
  UnwritableWarnings,
  type WarningKind,
  type WarningStore,
  warningsKeptDays,
} from "../../ports/warnings.ts";
import { personOf, personText } from "../../rules/person-text.ts";
import type { Sql, Tx } from "../client/connect.ts";
import { isRefusedForGood } from "../client/errors.ts";
import { advisoryLocks } from "../client/locks.ts";
import { restored, storable } from "../client/text.ts";
import { inTransaction } from "../client/transaction.ts";
import { erasedTexts, erasureKey } from "../write/tombstones.ts";
import { isThere } from "./organizations.ts";

const addedInAStep = 1_000;
const deletedInAStep = 5_000;

/** Stands for null, which could not be part of the key; no detail has half a character. */
const others = "";

type Keys = Pick<IngestionWarning, "organization" | "utcDay" | "kind" | "endpoint"> & {
  readonly detail: string;
};
type Day = Pick<IngestionWarning, "organization" | "utcDay">;
type Row = Omit<IngestionWarning, "detail"> & { readonly detail: string };

export class PostgresWarnings implements WarningStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async add(
    counted: readonly IngestionWarning[],
    written: (lines: number) => void = () => undefined,
  ): Promise<void> {
    const refused: unknown[] = [];
    for (let start = 0; start < counted.length; start += addedInAStep) {
      const step = counted.slice(start, start + addedInAStep);
      refused.push(...(await this.#addAllBut(step, written)));
    }
    if (refused.length === 0) return;
    throw new UnwritableWarnings(`${refused.length} warnings cannot be written, and are left out`, {
      cause: refused[0],
    });
  }

  /** Adds what can be written, in halves where a line of it is refused. @returns why each of the others cannot be */
  async #addAllBut(
    counted: readonly IngestionWarning[],
    written: (lines: number) => void,
  ): Promise<readonly unknown[]> {
    try {
      await inTransaction(this.#sql, (tx) => addWarnings(tx, counted));
    } catch (error) {
      if (!isRefusedForGood(error)) throw error;
      if (counted.length > 1) {
        const middle = Math.ceil(counted.length / 2);
        const first = await this.#addAllBut(counted.slice(0, middle), written);
        return [...first, ...(await this.#addAllBut(counted.slice(middle), written))];
      }
      // It is left out: there is nothing of it to be written later.
      written(1);
      return [error];
    }
    written(counted.length);
    return [];
  }

  async list(organization: number, limit: number, kind?: WarningKind): Promise<readonly IngestionWarning[]> {
    const rows = await this.#sql<IngestionWarning[]>`
      SELECT organization, utc_day AS "utcDay", kind, endpoint, nullif(detail, ${others}) AS detail, count,
        first_seen_ms AS "firstSeenMs", last_seen_ms AS "lastSeenMs", message, user_id AS "userId"
      FROM ingestion_warnings
      WHERE organization = ${organization} AND kind = coalesce(${kind ?? null}::text, kind)
      ORDER BY last_seen_ms DESC, kind, endpoint, ingestion_warnings.detail LIMIT ${limit}`;
    return rows.map((row) => ({
      ...row,
      endpoint: restored(row.endpoint),
      detail: row.detail === null ? null : restored(row.detail),
      message: row.message === null ? null : restored(row.message),
      userId: row.userId === null ? null : restored(row.userId),
    }));
  }

  /** Deletes what is older than 30 days. */
  async tidy(nowMs: number): Promise<void> {
    const firstKeptDay = Math.floor(nowMs / msPerDay) - warningsKeptDays;
    await this.#sql`
      DELETE FROM ingestion_warnings WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ingestion_warnings WHERE utc_day < ${firstKeptDay}
        LIMIT ${deletedInAStep} FOR UPDATE SKIP LOCKED))`;
  }
}

/** Deletes what these users were the last to cause, inside the caller's transaction. */
export async function forgetWarningsOf(
  tx: Tx,
  organization: number,
  userIds: readonly string[],
): Promise<void> {
  await lockWarnings(tx);
  await tx`
    DELETE FROM ingestion_warnings
    WHERE organization = ${organization} AND user_id = ANY (${userIds.map(storable)}::text[])`;
}

/** Adds them inside the caller's transaction, without those of organizations that are deleted by now. Others who add wait for
 * its end, because details are counted. */
export async function addWarnings(tx: Tx, counted: readonly IngestionWarning[]): Promise<void> {
  if (counted.length === 0) return;
  const named = await withoutErased(tx, counted);
  await lockWarnings(tx);
  const rows = await withDetails(tx, named.map(stored));
  await tx`
    INSERT INTO ingestion_warnings AS stored (organization, utc_day, kind, endpoint, detail, count,
      first_seen_ms, last_seen_ms, message, user_id)
    SELECT organization, "utcDay", kind, endpoint, detail, count, "firstSeenMs", "lastSeenMs", message, "userId"
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS given (organization bigint, "utcDay" integer,
      kind text, endpoint text, detail text, count bigint, "firstSeenMs" bigint, "lastSeenMs" bigint, message text,
      "userId" text)
    WHERE EXISTS (SELECT FROM organizations WHERE id = given.organization AND ${isThere(tx)})
    ON CONFLICT (organization, utc_day, kind, endpoint, detail) DO UPDATE SET
      count = stored.count + excluded.count,
      first_seen_ms = least(stored.first_seen_ms, excluded.first_seen_ms),
      last_seen_ms = greatest(stored.last_seen_ms, excluded.last_seen_ms),
      message = excluded.message,
      user_id = excluded.user_id`;
}

/** The same without the ids of people who were erased and are not there again. */
async function withoutErased(
  tx: Tx,
  counted: readonly IngestionWarning[],
): Promise<readonly IngestionWarning[]> {
  const texts = counted.flatMap(({ organization, userId: id }) =>
    id === null ? [] : personKinds.map((kind) => ({ organization, text: personText({ kind, id }) })),
  );
  if (texts.length === 0) return counted;
  const key = await erasureKey(tx);
  const found = await erasedTexts(
    tx,
    texts.map((each) => ({ ...each, key })),
  );
  if (found.length === 0) return counted;
  const erased = found.map(({ organization, text }) => ({ organization, id: personOf(text).id }));
  const back = await tx<{ organization: number; id: string }[]>`
    SELECT organization, user_id AS id FROM users
    WHERE (organization, user_id) IN (
      SELECT * FROM unnest(${erased.map(({ organization }) => organization)}::bigint[],
        ${erased.map(({ id }) => storable(id))}::text[]))`;
  const nameOf = (organization: number, id: string) => `${organization} ${id}`;
  const gone = new Set(erased.map(({ organization, id }) => nameOf(organization, id)));
  for (const { organization, id } of back) gone.delete(nameOf(organization, restored(id)));
  return counted.map((warning) =>
    gone.has(nameOf(warning.organization, warning.userId ?? "")) ? { ...warning, userId: null } : warning,
  );
}

function lockWarnings(tx: Tx) {
  return tx`SELECT pg_advisory_xact_lock(${advisoryLocks.warnings}::bigint)`;
}

function stored(warning: IngestionWarning): Row {
  return {
    ...warning,
    endpoint: storable(warning.endpoint),
    detail: storable(warning.detail ?? others),
    message: warning.message === null ? null : storable(warning.message),
    userId: warning.userId === null ? null : storable(warning.userId),
  };
}

/** One row for each key, with the detail under which it is counted: that of all others once a day has too many. */
async function withDetails(tx: Tx, wanted: readonly Row[]): Promise<readonly Row[]> {
  const [known, days] = await Promise.all([findKnown(tx, wanted), countDetails(tx, wanted)]);
  const rows = new Map<string, Row>();
  for (const row of wanted) {
    const isKnown = row.detail === others || known.has(keyOf(row));
    const details = days.get(dayOf(row)) ?? 0;
    const detail = isKnown || details < maxWarningDetails ? row.detail : others;
    const counted = { ...row, detail };
    const key = keyOf(counted);
    if (!known.has(key) && !rows.has(key)) days.set(dayOf(row), details + 1);
    known.add(key);
    const before = rows.get(key);
    rows.set(key, before === undefined ? counted : added(before, counted));
  }
  return [...rows.values()];
}

function added(before: Row, after: Row): Row {
  return {
    ...after,
    count: before.count + after.count,
    firstSeenMs: Math.min(before.firstSeenMs, after.firstSeenMs),
    lastSeenMs: Math.max(before.lastSeenMs, after.lastSeenMs),
  };
}

async function findKnown(tx: Tx, wanted: readonly Row[]): Promise<Set<string>> {
  const keys = wanted.map(({ organization, utcDay, kind, endpoint, detail }) => ({
    ...{ organization, utcDay, kind, endpoint, detail },
  }));
  const found = await tx<Keys[]>`
    SELECT DISTINCT stored.organization, stored.utc_day AS "utcDay", stored.kind, stored.endpoint, stored.detail
    FROM ingestion_warnings AS stored
    JOIN json_to_recordset(${JSON.stringify(keys)}::text::json) AS given (organization bigint, "utcDay" integer,
      kind text, endpoint text, detail text)
    ON (stored.organization, stored.utc_day, stored.kind, stored.endpoint, stored.detail)
      = (given.organization, given."utcDay", given.kind, given.endpoint, given.detail)`;
  return new Set(found.map(keyOf));
}

async function countDetails(tx: Tx, wanted: readonly Row[]): Promise<Map<string, number>> {
  const days = [...new Map(wanted.map((row) => [dayOf(row), row])).values()];
  const found = await tx<(Day & { count: number })[]>`
    SELECT organization, utc_day AS "utcDay", count(*) AS count FROM ingestion_warnings
    WHERE (organization, utc_day) IN (
      SELECT * FROM unnest(${days.map(({ organization }) => organization)}::bigint[],
        ${days.map(({ utcDay }) => utcDay)}::bigint[]))
    GROUP BY organization, utc_day`;
  return new Map(found.map((row) => [dayOf(row), row.count]));
}

function dayOf({ organization, utcDay }: Day): string {
  return `${organization} ${utcDay}`;
}

function keyOf({ kind, endpoint, detail, ...day }: Keys): string {
  return JSON.stringify([dayOf(day), kind, endpoint, detail]);
}
