/** The stored results of scoring: runs, models, scales, snapshots and fits, in a small table of the
 * warehouse. Fields that queries read of all days are columns. The rest of a body is JSON. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import type { FitBody, ModelBody, RunBody, ScaleBody, SnapshotBody } from "./record-bodies.ts";
import {
  modelOfStored,
  runOfStored,
  type StoredModel,
  type StoredRun,
  type StoredScale,
  scaleOfStored,
} from "./records-of-0-1.ts";

interface Bodies {
  readonly run: RunBody;
  readonly model: ModelBody;
  readonly scale: ScaleBody;
  readonly snapshot: SnapshotBody;
  readonly fit: FitBody;
  readonly shift: SnapshotBody;
}

/** The parts of bodies that are columns. */
type Keys = Pick<RunBody, "rowsVersion" | "settingsKey" | "declaredOutages" | "firstPublishedAtMs">;

const keyColumns = `rows_version AS rowsVersion, settings_key AS settingsKey, declared_outages AS declaredOutages,
  first_published_at_ms AS firstPublishedAtMs`;

/** Reads the bodies of all versions. Columns come after the JSON: bodies of earlier versions have copies. */
const readers: { readonly [W in keyof Bodies]: (text: string, keys: Keys) => Bodies[W] } = {
  run: (text, keys) => runOfStored({ ...(JSON.parse(text) as StoredRun), ...keys }),
  model: (text, { settingsKey, declaredOutages }) =>
    modelOfStored({ ...(JSON.parse(text) as StoredModel), settingsKey, declaredOutages }),
  scale: (text, { settingsKey, declaredOutages }) =>
    scaleOfStored({ ...(JSON.parse(text) as StoredScale), settingsKey, declaredOutages }),
  snapshot: (_, { rowsVersion, settingsKey }) => ({ rowsVersion, settingsKey }),
  shift: (_, { rowsVersion, settingsKey }) => ({ rowsVersion, settingsKey }),
  fit: (text, { settingsKey }) => ({ ...(JSON.parse(text) as Pick<FitBody, "fit">), settingsKey }),
};

type What = keyof Bodies;

export interface ScoreRecord<Body> {
  readonly day: number;
  readonly version: number;
  /** Whether later events changed the data behind it, or its model was not trained yet. */
  readonly stale: boolean;
  readonly body: Body;
}

interface Key<W extends What> {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly what: W;
}

const ofKey = "organization = {organization:UInt32} AND kind = {kind:String} AND what = {what:String}";
const dayOf = (name: string) => `addDays(toDate32('1970-01-01'), {${name}:Int32})`;

/** The record of a day, or undefined. */
export async function recordOf<W extends What>(
  warehouse: Warehouse,
  key: Key<W>,
  day: number,
): Promise<ScoreRecord<Bodies[W]> | undefined> {
  return (await find<W>(warehouse, key, `AND day = ${dayOf("day")}`, { day }))[0];
}

/** The newest record of this day or an earlier day. */
export async function newestRecord<W extends What>(
  warehouse: Warehouse,
  key: Key<W>,
  uptoDay: number,
): Promise<ScoreRecord<Bodies[W]> | undefined> {
  const condition = `AND day <= ${dayOf("day")} ORDER BY day DESC LIMIT 1`;
  return (await find<W>(warehouse, key, condition, { day: uptoDay }))[0];
}

/** The oldest run of a later day. */
export async function runAfter(
  warehouse: Warehouse,
  key: Omit<Key<"run">, "what">,
  day: number,
): Promise<ScoreRecord<RunBody> | undefined> {
  const condition = `AND day > ${dayOf("day")} ORDER BY day LIMIT 1`;
  return (await find<"run">(warehouse, { ...key, what: "run" }, condition, { day }))[0];
}

/** The records of these days, as far as there are some, by day. */
export async function recordsOf<W extends What>(
  warehouse: Warehouse,
  key: Key<W>,
  days: readonly number[],
): Promise<ReadonlyMap<number, ScoreRecord<Bodies[W]>>> {
  if (days.length === 0) return new Map();
  const found = await find<W>(warehouse, key, "AND toInt32(day) IN {days:Array(Int32)}", { days });
  return new Map(found.map((record) => [record.day, record]));
}

/** The runs of days between two, both included, in the order of days. */
export async function runsBetween(
  warehouse: Warehouse,
  key: Omit<Key<"run">, "what">,
  days: { readonly fromDay: number; readonly toDay: number },
): Promise<ScoreRecord<RunBody>[]> {
  const condition = `AND day BETWEEN ${dayOf("fromDay")} AND ${dayOf("toDay")} ORDER BY day`;
  return find<"run">(warehouse, { ...key, what: "run" }, condition, days);
}

async function find<W extends What>(
  warehouse: Warehouse,
  { organization, kind, what }: Key<W>,
  condition: string,
  days: Readonly<Record<string, number | readonly number[]>>,
): Promise<ScoreRecord<Bodies[W]>[]> {
  const rows = await warehouse.rows<ScoreRecord<string> & Keys>(
    `SELECT toInt32(day) AS day, version, stale, body, ${keyColumns}
     FROM (SELECT * FROM score_records FINAL WHERE ${ofKey} ${condition})`,
    { organization, kind, what, ...days },
  );
  return rows.map(({ body, version, stale, day, ...keys }) => {
    return { day, version, stale, body: readers[what](body, keys) };
  });
}

/** Stores the record of a day, in place of its earlier record. */
export function keepRecord<W extends What>(
  warehouse: Warehouse,
  { organization, kind, what }: Key<W>,
  { day, version, stale = false, body }: Omit<ScoreRecord<Bodies[W]>, "stale"> & { readonly stale?: boolean },
): Promise<void> {
  const asRun: Partial<Keys> & Pick<Keys, "settingsKey"> & Partial<Pick<RunBody, "choice">> = body;
  const { rowsVersion = 0, settingsKey, declaredOutages = "", firstPublishedAtMs = 0, ...rest } = asRun;
  return warehouse.command(
    `INSERT INTO score_records (organization, kind, what, day, version, stale, body, rows_version, settings_key,
       declared_outages, first_published_at_ms, rung) SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, {kind:String}, {what:String}, ${dayOf("day")}, {version:UInt64}, {stale:Bool}, {body:String},
       {rowsVersion:UInt64}, {settingsKey:String}, {declaredOutages:String}, {firstPublishedAtMs:UInt64},
       nullIf({rung:Int8}, -1)`,
    {
      organization,
      kind,
      what,
      day,
      version,
      stale,
      rowsVersion,
      settingsKey,
      declaredOutages,
      firstPublishedAtMs,
      rung: rest.choice?.rung ?? -1,
      body: JSON.stringify(rest),
    },
  );
}

export interface RunOfDay {
  readonly kind: EntityKind;
  readonly day: number;
  readonly stale: boolean;
  readonly settingsKey: string;
  readonly declaredOutages: string;
  readonly firstPublishedAtMs: number;
}

/** All runs of an organization without their results, in the order of days. */
export function listRuns(warehouse: Warehouse, organization: number): Promise<RunOfDay[]> {
  return warehouse.rows<RunOfDay>(
    `SELECT kind, toInt32(day) AS day, stale, settings_key AS settingsKey, declared_outages AS declaredOutages,
       first_published_at_ms AS firstPublishedAtMs
     FROM (SELECT * FROM score_records FINAL WHERE organization = {organization:UInt32} AND what = 'run')
     ORDER BY day, kind`,
    { organization },
  );
}

/** Marks all results of days after `changedDay` as stale: they do not include new events of that day. */
export function markStale(warehouse: Warehouse, organization: number, changedDay: number): Promise<void> {
  return mark(warehouse, `day > ${dayOf("changedDay")}`, { organization, changedDay });
}

/** Marks today's scores and their snapshots as stale, but neither its model nor its scale. */
export function markTodayStale(warehouse: Warehouse, organization: number, today: number): Promise<void> {
  const condition = `day = ${dayOf("today")} AND what IN ('run', 'snapshot')`;
  return mark(warehouse, condition, { organization, today });
}

/** Marks the snapshot of a day as stale, before other rows take the place of its rows. */
export function markSnapshotStale(
  warehouse: Warehouse,
  {
    organization,
    kind,
    day,
  }: { readonly organization: number; readonly kind: EntityKind; readonly day: number },
): Promise<void> {
  const condition = `day = ${dayOf("day")} AND kind = {kind:String} AND what = 'snapshot'`;
  return mark(warehouse, condition, { organization, kind, day });
}

function mark(
  warehouse: Warehouse,
  condition: string,
  parameters: Readonly<Record<string, number | string>>,
): Promise<void> {
  return warehouse.command(
    `INSERT INTO score_records SETTINGS insert_deduplicate = 0
     SELECT * REPLACE (version + 1 AS version, true AS stale)
     FROM (SELECT * FROM score_records FINAL WHERE organization = {organization:UInt32} AND ${condition} AND NOT stale)`,
    parameters,
  );
}
