/** Ingestion warnings: problems of requests, counted by day. No acknowledged data depends on them: a killed
 * process may lose the counts of the last seconds. */

import type { warningKinds } from "../../../contract/api/api.ts";
import { msPerDay } from "../../calendar/zone.ts";
import {
  advisoryLock,
  greatest,
  isRefusedForGood,
  least,
  records,
  skipLocked,
  storeLocks,
  texts,
} from "../dialect.ts";
import { deleteInParts, type Engine, inParts } from "../engine.ts";
import { personKinds } from "../rules/held-events.ts";
import { personText } from "../rules/person-text.ts";
import { tombstoneOf } from "../rules/user-rows.ts";
import { integer, nullable, part, RowOf, run, select, text, type Work, word } from "../sql.ts";
import { isThere } from "./organization-rows.ts";

/** The ingestion warnings about items that were dropped or could not be attached, and about links that were
 * not stored. */
export type HeldEventWarningKind = "held_full" | "held_expired" | "held_refused" | "links_full";

/** The warning about items that were dropped or could not be attached, or about links that were not stored.
 * @param message the reason */
export function heldEventWarning(
  organization: number,
  kind: HeldEventWarningKind,
  count: number,
  nowMs: number,
  message: string | null = null,
): IngestionWarning {
  return {
    organization,
    count,
    utcDay: Math.floor(nowMs / msPerDay),
    firstSeenMs: nowMs,
    lastSeenMs: nowMs,
    kind,
    endpoint: "sources",
    detail: message,
    message,
    userId: null,
  };
}

/** Most rows of an organization and a day. Further details are counted in one row for all others. */
const maxWarningDetails = 1_000;
const warningsKeptDays = 30;

/** The answer to `unknown_key`, `event_in_future` and `duplicate` is 201. Requests with `…_left_out` and
 * `…_ignored` were stored without some fields. Items with `held_…` were dropped later. A link with
 * `links_full` was not stored. All others were rejected. */
export type WarningKind = (typeof warningKinds)[number];

/** Warnings that are counted together: one line of the list. */
export interface IngestionWarning {
  readonly organization: number;
  /** Days since 1970-01-01, UTC. */
  readonly utcDay: number;
  readonly kind: WarningKind;
  /** The last part of the request's path, for example `identify` or `track`. Or the source. */
  readonly endpoint: string;
  /** The key, the event's name or the message's beginning. Null for all further ones, once there are too
   * many. */
  readonly detail: string | null;
  readonly count: number;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  /** The latest error message to a sender. Null if the request was accepted. */
  readonly message: string | null;
  /** The latest user's id, if it could be read. Never the id of an erased user who was not identified
   * again. */
  readonly userId: string | null;
}

/** Some warnings can never be written and were left out. All others are stored. */
export class UnwritableWarnings extends Error {}

/** Replaces null, which cannot be part of the key. No detail equals it, because no detail has half a
 * surrogate pair. */
const others = "";

type Day = Pick<IngestionWarning, "organization" | "utcDay">;
type Key = Day & Pick<IngestionWarning, "kind" | "endpoint"> & { readonly detail: string };
type Row = Omit<IngestionWarning, "detail"> & { readonly detail: string };

const warning = new RowOf<IngestionWarning>({
  organization: integer(),
  utcDay: integer(),
  kind: word(),
  endpoint: text(),
  detail: nullable(text(`nullif(detail, '${others}')`)),
  count: integer(),
  firstSeenMs: integer(),
  lastSeenMs: integer(),
  message: nullable(text()),
  userId: nullable(text()),
});
const key = new RowOf<Key>({
  organization: integer("stored.organization"),
  utcDay: integer("stored.utc_day"),
  kind: word("stored.kind"),
  endpoint: text("stored.endpoint"),
  detail: text("stored.detail"),
});
const keyTypes = {
  organization: "bigint",
  utcDay: "bigint",
  kind: "text",
  endpoint: "text",
  detail: "text",
} as const;
const countOfDay = new RowOf<Day & { readonly count: number }>({
  organization: integer(),
  utcDay: integer(),
  count: integer("count(*)"),
});

/** The store of warnings. */
export function warningStore(engine: Engine) {
  return {
    /** Adds counts to the stored ones, without the ids of erased people: a late count must not store the id
     * again. Above 1,000 details of an organization and day, new ones are counted without their detail.
     * @param written gets the number of lines in each of several commits, in their order
     * @throws UnwritableWarnings */
    add: async (counted: readonly IngestionWarning[], written: (lines: number) => void = () => undefined) => {
      const refused: unknown[] = [];
      await inParts(engine, counted, async (warnings) => {
        refused.push(...(await addAllBut(engine, warnings, written)));
      });
      if (refused.length === 0) return;
      throw new UnwritableWarnings(`${refused.length} warnings cannot be written, and are left out`, {
        cause: refused[0],
      });
    },

    /** Newest first. @param kind only warnings of this kind. Default: all kinds */
    list: async (organization: number, limit: number, kind?: WarningKind) => {
      await engine.countsFlushed();
      return engine.alone(
        select(warning)`FROM ingestion_warnings
          WHERE organization = ${organization} AND kind = coalesce(CAST(${kind ?? null} AS text), kind)
          ORDER BY last_seen_ms DESC, kind, endpoint, ingestion_warnings.detail LIMIT ${limit}`,
      );
    },
  };
}

export type WarningStore = ReturnType<typeof warningStore>;

/** Deletes warnings that are older than 30 days. */
export function tidyWarnings(engine: Engine, nowMs: number): Promise<void> {
  const firstKeptDay = Math.floor(nowMs / msPerDay) - warningsKeptDays;
  return deleteInParts(
    engine,
    (most) => run`
      DELETE FROM ingestion_warnings WHERE (organization, utc_day, kind, endpoint, detail) IN (
        SELECT organization, utc_day, kind, endpoint, detail FROM ingestion_warnings
        WHERE utc_day < ${firstKeptDay} LIMIT ${most} ${skipLocked})`,
  );
}

/** The warnings whose latest user is one of these. */
export function findWarningsOf(organization: number, userIds: readonly string[]) {
  return select(warning)`
    FROM ingestion_warnings
    WHERE organization = ${organization} AND user_id IN (SELECT text FROM ${texts(userIds)})
    ORDER BY last_seen_ms DESC`;
}

/** Deletes the warnings whose latest users were these. @returns their number */
export function* forgetWarningsOf(organization: number, userIds: readonly string[]): Work<number> {
  yield* advisoryLock(storeLocks.warnings);
  return yield* run`
    DELETE FROM ingestion_warnings WHERE organization = ${organization} AND user_id IN (SELECT text FROM ${texts(userIds)})`;
}

/** Adds warnings, without those of organizations that were deleted meanwhile. Other transactions that add
 * warnings wait for its end, because details are counted. */
export function* addWarnings(counted: readonly IngestionWarning[]): Work<void> {
  if (counted.length === 0) return;
  const named = yield* withoutErased(counted);
  yield* advisoryLock(storeLocks.warnings);
  const rows = yield* withDetails(named.map((one) => ({ ...one, detail: one.detail ?? others })));
  const given = records(rows, {
    ...keyTypes,
    count: "bigint",
    firstSeenMs: "bigint",
    lastSeenMs: "bigint",
    message: "text",
    userId: "text",
  });
  yield* run`
    INSERT INTO ingestion_warnings AS stored (organization, utc_day, kind, endpoint, detail, count,
      first_seen_ms, last_seen_ms, message, user_id)
    SELECT organization, "utcDay", kind, endpoint, detail, count, "firstSeenMs", "lastSeenMs", message, "userId"
    FROM ${given} WHERE EXISTS (SELECT 1 FROM organizations WHERE id = given.organization AND ${isThere})
    ON CONFLICT (organization, utc_day, kind, endpoint, detail) DO UPDATE SET
      count = stored.count + excluded.count,
      first_seen_ms = ${least}(stored.first_seen_ms, excluded.first_seen_ms),
      last_seen_ms = ${greatest}(stored.last_seen_ms, excluded.last_seen_ms),
      message = excluded.message,
      user_id = excluded.user_id`;
}

/** Adds the warnings that can be written. A list with a rejected warning is halved.
 * @returns the reason for each warning that cannot be written */
async function addAllBut(
  engine: Engine,
  counted: readonly IngestionWarning[],
  written: (warnings: number) => void,
): Promise<readonly unknown[]> {
  try {
    await engine.transaction(() => addWarnings(counted));
  } catch (error) {
    if (!isRefusedForGood(error)) throw error;
    if (counted.length > 1) {
      const middle = Math.ceil(counted.length / 2);
      const first = await addAllBut(engine, counted.slice(0, middle), written);
      return [...first, ...(await addAllBut(engine, counted.slice(middle), written))];
    }
    // The warning is left out, and will not be written later.
    written(1);
    return [error];
  }
  written(counted.length);
  return [];
}

const organizationId = new RowOf<{ readonly id: number }>({ id: integer() });
const keyRow = new RowOf<{ readonly key: Uint8Array }>({
  // SQLite stores bytes, PostgreSQL hexadecimal digits.
  key: {
    source: undefined,
    read: (stored) => (stored instanceof Uint8Array ? stored : Buffer.from(String(stored), "hex")),
  },
});
const placeRow = new RowOf<{ readonly place: number }>({ place: integer() });

/** The key of the hashes of erased ids. It never changes. */
export function* erasureKey(): Work<Uint8Array> {
  const [stored] = yield* select(keyRow)`FROM erasure_key`;
  if (stored === undefined) throw new Error("The ledger has lost the key of its erasures.");
  return stored.key;
}

/** Warnings without the ids of erased users who were not identified again. */
function* withoutErased(counted: readonly IngestionWarning[]): Work<readonly IngestionWarning[]> {
  const named = counted.flatMap(({ organization, userId: id }, place) =>
    id === null ? [] : [{ place, organization, id }],
  );
  if (named.length === 0) return counted;
  const given = records(named, { organization: "bigint" });
  const erasing = yield* select(organizationId)`
    FROM organizations WHERE id IN (SELECT organization FROM ${given}) AND (
      EXISTS (SELECT 1 FROM erasures WHERE organization = organizations.id)
      OR EXISTS (SELECT 1 FROM erased_ids WHERE organization = organizations.id))`;
  if (erasing.length === 0) return counted;
  const hmacKey = yield* erasureKey();
  const organizations = new Set(erasing.map(({ id }) => id));
  const people = named
    .filter(({ organization }) => organizations.has(organization))
    .flatMap((one) =>
      personKinds.map((kind) => ({
        ...one,
        asUser: kind === "user" ? tombstoneOf(hmacKey, one.organization, one.id) : null,
        asLinked: tombstoneOf(hmacKey, one.organization, personText({ kind, id: one.id })),
      })),
    );
  const erased = yield* select(placeRow)`
    FROM ${records(people, { place: "bigint", organization: "bigint", id: "text", asUser: "text", asLinked: "text" })}
    WHERE (
      EXISTS (SELECT 1 FROM erasures WHERE organization = given.organization AND user_hmac = given."asUser")
      OR EXISTS (SELECT 1 FROM erased_ids WHERE organization = given.organization AND person_hmac = given."asLinked"))
    AND NOT EXISTS (SELECT 1 FROM users WHERE organization = given.organization AND user_id = given.id)`;
  const places = new Set(erased.map(({ place }) => place));
  return counted.map((one, place) => (places.has(place) ? { ...one, userId: null } : one));
}

/** One row for each key, with its detail. Above the limit of a day, the detail is that of all others. */
function* withDetails(wanted: readonly Row[]): Work<readonly Row[]> {
  const known = yield* findKnown(wanted);
  const days = yield* countDetails(wanted);
  const rows = new Map<string, Row>();
  for (const row of wanted) {
    const isKnown = row.detail === others || known.has(keyOf(row));
    const details = days.get(dayOf(row)) ?? 0;
    const counted = { ...row, detail: isKnown || details < maxWarningDetails ? row.detail : others };
    const name = keyOf(counted);
    if (!known.has(name) && !rows.has(name)) days.set(dayOf(row), details + 1);
    known.add(name);
    const before = rows.get(name);
    rows.set(name, before === undefined ? counted : added(before, counted));
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

function* findKnown(wanted: readonly Row[]): Work<Set<string>> {
  const isSame = part`stored.organization = given.organization AND stored.utc_day = given."utcDay"
    AND stored.kind = given.kind AND stored.endpoint = given.endpoint AND stored.detail = given.detail`;
  // SQLite reads a CROSS JOIN from left to right, and so finds each key by the primary key.
  const found = yield* select(key)`
    FROM ${records(wanted, keyTypes)} CROSS JOIN ingestion_warnings AS stored WHERE ${isSame}`;
  return new Set(found.map(keyOf));
}

function* countDetails(wanted: readonly Row[]): Work<Map<string, number>> {
  const days = records(wanted, { organization: "bigint", utcDay: "bigint" });
  const found = yield* select(countOfDay)`
    FROM ingestion_warnings WHERE (organization, utc_day) IN (SELECT organization, "utcDay" FROM ${days})
    GROUP BY organization, utc_day`;
  return new Map(found.map((row) => [dayOf(row), row.count]));
}

function dayOf({ organization, utcDay }: Day): string {
  return `${organization} ${utcDay}`;
}

function keyOf({ kind, endpoint, detail, ...day }: Key): string {
  return JSON.stringify([dayOf(day), kind, endpoint, detail]);
}
