/**
 * The stored snapshots of features. A run writes the snapshot of its day first, and training those of its
 * Mondays that are missing. A snapshot is computed again when its record is stale or has another key. See
 * docs/decisions/0053.
 */
import { versionAbove } from "../../process/time.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isEngagement } from "../../warehouse/schema/engagement.ts";
import { isExcluded } from "../../warehouse/schema/included.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { keepRecord, markSnapshotStale, recordOf } from "../run/records.ts";
import type { FeatureSettings } from "../scores/features.ts";
import { joinedSpans, windowStart } from "../scores/observed-days.ts";
import type { Population } from "./engagement-events.ts";
import { read, scoringLimits } from "./query.ts";
import { insertSnapshotQuery, type SnapshotRows, type StoredSnapshot, storedRows } from "./snapshot-rows.ts";

/** Raised when the meaning of a column changes: snapshots of before are computed again. */
const formulas = 1;
/** More users are written by several statements, whose groups need little memory and lie close together:
 * 100,000 users with 20 million events take 3.5 s of processor time in parts of this size, and 5.5 s in parts
 * of 65,536. */
const usersOfStatement = 16_384;
const maxCountedEvents = 64;
/** Counts of rarer events tell a model nothing. The name of an event that one user does may be personal. */
const leastUsersOfEvent = 30;

/**
 * The snapshot of users, or of accounts, as of a day: the stored one, or one that is written now. Users'
 * snapshots have excluded users too, who are left out where rows are read. Accounts' snapshots depend on the
 * excluded users who were there.
 */
export async function snapshotFor(
  warehouse: Warehouse,
  { entity: _entity, usersIn: _usersIn, ...population }: Population,
  day: number,
): Promise<SnapshotRows> {
  const ofUsers: Population = { ...population, kind: "user", withExcluded: true };
  const stored = await storedSnapshot(warehouse, ofUsers, { day, excluded: "" });
  const users = storedRows(stored);
  if (population.kind === "user") return { day, entities: users, users };
  const excluded = await excludedIn(warehouse, stored);
  return { day, entities: storedRows(await storedSnapshot(warehouse, population, { day, excluded })), users };
}

/** @param excluded names the excluded users among its events */
async function storedSnapshot(
  warehouse: Warehouse,
  population: Population,
  { day, excluded }: { readonly day: number; readonly excluded: string },
): Promise<StoredSnapshot> {
  const { organization, kind, settings } = population;
  const record = { organization, kind, what: "snapshot" } as const;
  const key = keyOf(settings, day, excluded);
  const kept = await recordOf(warehouse, record, day);
  if (kept !== undefined && !kept.stale && kept.body.settingsKey === key) {
    return { organization, kind, day, rowsVersion: kept.body.rowsVersion };
  }
  if (kept !== undefined) await markSnapshotStale(warehouse, { organization, kind, day });
  // Above the marks of the record, and above every row of a write that was cut off: merges keep the highest.
  const newest = await newestVersion(warehouse, population, day);
  const version = versionAbove(Math.max((kept?.version ?? 0) + 1, newest));
  const snapshot = { organization, kind, day, rowsVersion: version };
  const counted = await countedEvents(warehouse, population, day);
  for (const part of await partsOf(warehouse, population)) {
    const insert = insertSnapshotQuery(part, snapshot, counted);
    await warehouse.command(insert.sql, insert.parameters, scoringLimits);
  }
  await keepRecord(warehouse, record, { day, version, body: { rowsVersion: version, settingsKey: key } });
  return snapshot;
}

/** The population in parts that are written one after another. */
async function partsOf(warehouse: Warehouse, population: Population): Promise<readonly Population[]> {
  const { organization, kind } = population;
  if (kind === "account") return [population];
  const parts = await warehouse.rows<{ from: number }>(
    `SELECT DISTINCT toUInt64(intDiv(user, ${usersOfStatement})) * ${usersOfStatement} AS from FROM user_spans
     WHERE organization = {organization:UInt32} ORDER BY from`,
    { organization },
  );
  return parts.map(({ from }) => ({ ...population, numbers: { from, below: from + usersOfStatement } }));
}

async function newestVersion(
  warehouse: Warehouse,
  { organization, kind }: Population,
  day: number,
): Promise<number> {
  const [row] = await warehouse.rows<{ version: number }>(
    `SELECT max(version) AS version FROM ${kind}_snapshots
     WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")}`,
    { organization, day },
  );
  return row?.version ?? 0;
}

/** Names everything that is set and that rows of a day depend on. */
function keyOf(settings: FeatureSettings, day: number, excluded: string): string {
  const { passiveEvents = [], weights = [], keyEvents = [], outages = [] } = settings;
  return JSON.stringify({
    formulas,
    passiveEvents: [...passiveEvents].sort(),
    weights: [...weights].sort(([a], [b]) => (a < b ? -1 : 1)),
    keyEvents: [...new Set(keyEvents)].sort(),
    outages: joinedSpans(outages, day),
    excluded,
  });
}

/** A key of the excluded users in a snapshot. A user who is excluded later, and was not there on the day,
 * does not change it. */
async function excludedIn(
  warehouse: Warehouse,
  { organization, day, rowsVersion }: StoredSnapshot,
): Promise<string> {
  const [row] = await warehouse.rows<{ key: string }>(
    `SELECT hex(sipHash64(arraySort(groupArray(user)))) AS key FROM user_snapshots
     WHERE organization = {organization:UInt32} AND day = ${dayParameter("day")} AND version = {rowsVersion:UInt64}
       AND ${isExcluded("user")}`,
    { organization, day, rowsVersion },
  );
  return row?.key ?? "";
}

/** The events that rows have counts of: key events, and the events that most users did in 28 days. */
async function countedEvents(
  warehouse: Warehouse,
  { organization, settings }: Population,
  day: number,
): Promise<readonly string[]> {
  const { passiveEvents = [], keyEvents = [], outages } = settings;
  const passive = [...passiveEvents];
  const rows = await read<{ event: string }>(warehouse, {
    sql: `
      SELECT event, bitmapCardinality(groupBitmapMergeState(users)) AS people FROM event_days
      WHERE organization = {organization:UInt32} AND day >= ${dayParameter("since")} AND day < ${dayParameter("day")}
        AND ${isEngagement(passive)}
      GROUP BY event HAVING people >= ${leastUsersOfEvent} ORDER BY people DESC, event LIMIT ${maxCountedEvents}`,
    parameters: {
      organization,
      day,
      since: windowStart(day, 28, joinedSpans(outages ?? [], day)),
      ...(passive.length > 0 && { passiveEvents: passive }),
    },
  });
  return [...new Set([...keyEvents, ...rows.map(({ event }) => event)])];
}
