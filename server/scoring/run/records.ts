/** The stored results of scoring: runs, models, scales and snapshots, as JSON in a small table of the warehouse. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import type { ModelBody, RunBody, ScaleBody, SnapshotBody } from "./record-bodies.ts";
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
}

/** Reads the bodies of all versions. */
const readers: { readonly [W in keyof Bodies]: (text: string) => Bodies[W] } = {
  run: (text) => runOfStored(JSON.parse(text) as StoredRun),
  model: (text) => modelOfStored(JSON.parse(text) as StoredModel),
  scale: (text) => scaleOfStored(JSON.parse(text) as StoredScale),
  snapshot: (text) => JSON.parse(text) as SnapshotBody,
};

type What = keyof Bodies;

export interface ScoreRecord<Body> {
  readonly day: number;
  readonly version: number;
  /** Whether later events changed the data behind it. */
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
  return (await find<W>(warehouse, key, `AND day = ${dayOf("day")}`, day))[0];
}

/** The newest record of this day or an earlier one. */
export async function newestRecord<W extends What>(
  warehouse: Warehouse,
  key: Key<W>,
  uptoDay: number,
): Promise<ScoreRecord<Bodies[W]> | undefined> {
  return (await find<W>(warehouse, key, `AND day <= ${dayOf("day")} ORDER BY day DESC LIMIT 1`, uptoDay))[0];
}

async function find<W extends What>(
  warehouse: Warehouse,
  { organization, kind, what }: Key<W>,
  condition: string,
  day: number,
): Promise<ScoreRecord<Bodies[W]>[]> {
  const rows = await warehouse.rows<ScoreRecord<string>>(
    `SELECT toInt32(day) AS day, version, stale, body
     FROM (SELECT * FROM score_records FINAL WHERE ${ofKey} ${condition})`,
    { organization, kind, what, day },
  );
  return rows.map((row) => ({ ...row, body: readers[what](row.body) }));
}

/** Keeps a record of a day in the place of the one before. */
export function keepRecord<W extends What>(
  warehouse: Warehouse,
  { organization, kind, what }: Key<W>,
  { day, version, body }: Omit<ScoreRecord<Bodies[W]>, "stale">,
): Promise<void> {
  return warehouse.command(
    `INSERT INTO score_records SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, {kind:String}, {what:String}, ${dayOf("day")}, {version:UInt64}, false, {body:String}`,
    { organization, kind, what, day, version, body: JSON.stringify(body) },
  );
}

export interface RunOfDay {
  readonly kind: EntityKind;
  readonly day: number;
  readonly stale: boolean;
  readonly settingsKey: string;
  /** Empty before there were any. */
  readonly declaredOutages: string;
  readonly firstPublishedAtMs: number;
}

/** All runs of an organization without their results, in the order of days. */
export function listRuns(warehouse: Warehouse, organization: number): Promise<RunOfDay[]> {
  return warehouse.rows<RunOfDay>(
    `SELECT kind, toInt32(day) AS day, stale, JSONExtractString(body, 'settingsKey') AS settingsKey,
       JSONExtractString(body, 'declaredOutages') AS declaredOutages,
       JSONExtractUInt(body, multiIf(JSONHas(body, 'firstPublishedAtMs'), 'firstPublishedAtMs',
         JSONHas(body, 'toldAtMs'), 'toldAtMs', 'finishedAtMs')) AS firstPublishedAtMs
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
     SELECT organization, kind, what, day, version + 1, true, body
     FROM (SELECT * FROM score_records FINAL WHERE organization = {organization:UInt32} AND ${condition})
     WHERE NOT stale`,
    parameters,
  );
}
