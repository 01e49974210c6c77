/** What scoring worked out and keeps: runs, models and scales, as JSON in a small table of the warehouse. */
import type { Settings } from "../../../contract/settings.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { Backtest } from "../churn/backtest.ts";
import type { BgbbParameters } from "../churn/bgbb.ts";
import type { ChurnModel } from "../churn/churn-model.ts";
import type { Choice } from "../churn/ladder.ts";
import type { DataCounts } from "../churn/train.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import type { UsualBehaviour } from "../queries/scale-query.ts";
import {
  modelOfStored,
  runOfStored,
  type SegmentsOfRun,
  type StoredModel,
  type StoredRun,
} from "./segments-of-0-1.ts";

/** A finished run for one kind of entity: everything that its scores follow from, beside their features. */
export interface RunBody {
  /** Its rows of scores have this version, or the higher one of a run that was cut off. */
  readonly rowsVersion: number;
  readonly settings: Settings;
  readonly settingsKey: string;
  readonly scale: UsualBehaviour;
  /** The day as of which the scale was measured. */
  readonly scaleDay: number;
  /** Null when no model is good enough. */
  readonly model: ChurnModel | null;
  /** Of a run by version 0.1.0. */
  readonly segments?: SegmentsOfRun;
  readonly bgbb: {
    readonly parameters: BgbbParameters;
    readonly isConverged: boolean;
    readonly isAtBound: boolean;
  };
  readonly choice: Choice;
  readonly counts: DataCounts;
  /** The day as of which rungs were trained and back-tested. */
  readonly trainedDay: number;
  readonly backtest: Backtest;
  readonly entities: number;
  readonly scored: number;
  /** When scores of this day were first told under these settings. */
  readonly toldAtMs: number;
  readonly finishedAtMs: number;
  readonly tookMs: number;
}

/** Rungs, as trained on what was known on a day. */
export interface ModelBody {
  readonly settingsKey: string;
  readonly rungs: readonly ChurnModel[];
  readonly churnedLabels: number;
  readonly retainedLabels: number;
  /** The fit of BG/BB to the cells of that day: where the fits of the week begin. */
  readonly bgbb: BgbbParameters;
  readonly backtest: Backtest;
}

/** A scale that was measured, and the settings that it was measured under. */
export type ScaleBody = UsualBehaviour & { readonly settingsKey: string };

interface Bodies {
  readonly run: RunBody;
  readonly model: ModelBody;
  readonly scale: ScaleBody;
}

/** Reads the bodies of all versions. */
const readers: { readonly [W in keyof Bodies]: (text: string) => Bodies[W] } = {
  run: (text) => runOfStored(JSON.parse(text) as StoredRun),
  model: (text) => modelOfStored(JSON.parse(text) as StoredModel),
  scale: (text) => JSON.parse(text) as ScaleBody,
};

type What = keyof Bodies;

export interface ScoreRecord<Body> {
  readonly day: number;
  readonly version: number;
  /** Whether events came later that it should have known. */
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
  readonly toldAtMs: number;
}

/** All runs of an organization without what they found, in the order of days. */
export function listRuns(warehouse: Warehouse, organization: number): Promise<RunOfDay[]> {
  return warehouse.rows<RunOfDay>(
    `SELECT kind, toInt32(day) AS day, stale, JSONExtractString(body, 'settingsKey') AS settingsKey,
       JSONExtractUInt(body, if(JSONHas(body, 'toldAtMs'), 'toldAtMs', 'finishedAtMs')) AS toldAtMs
     FROM (SELECT * FROM score_records FINAL WHERE organization = {organization:UInt32} AND what = 'run')
     ORDER BY day, kind`,
    { organization },
  );
}

/** Says of everything that was worked out for a later day that it did not know of an event on `changedDay`. */
export function markStale(warehouse: Warehouse, organization: number, changedDay: number): Promise<void> {
  return warehouse.command(
    `INSERT INTO score_records SETTINGS insert_deduplicate = 0
     SELECT organization, kind, what, day, version + 1, true, body
     FROM (SELECT * FROM score_records FINAL
       WHERE organization = {organization:UInt32} AND day > ${dayOf("changedDay")})
     WHERE NOT stale`,
    { organization, changedDay },
  );
}
