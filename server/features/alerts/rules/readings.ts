/**
 * The readings of a rule's condition on many scored days, from the daily rows of scores. Days without scores
 * have none. The preview reads 90 days of one rule. The nightly decision reads one day of all rules
 * (`daily/`).
 */

import { groundKey, rulesKey } from "../../../scoring/preview/scores-by-rules.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { ScoredOrganization } from "../../../scoring/run/population.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import { runsBetween, type ScoreRecord } from "../../../scoring/run/records.ts";
import type { Outages } from "../../../scoring/scores/observed-days.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";
import { crossedByWeights } from "./by-weights.ts";
import { conditionSql, type DailyCondition, followsModel, isOfScores, lookbackOf } from "./conditions.ts";
import { type Judged, type JudgedDay, judgements, judgementsQuery } from "./readings-query.ts";
import { type Absent, absentAccounts, accountsWithExclusions } from "./standing.ts";
import type { Reading, Standing } from "./step.ts";

type Run = ScoreRecord<RunBody>;

export interface ReadingsQuestion {
  readonly organization: Omit<ScoredOrganization, "settings">;
  readonly kind: EntityKind;
  readonly condition: DailyCondition;
  /** The first day whose reading is asked for, and the last one. */
  readonly fromDay: number;
  readonly toDay: number;
  /** Numbers of entities whose readings are asked for although they are never inside. */
  readonly followed?: readonly number[];
  /** Whether readings of entities that churned on one of the days are asked for. */
  readonly withChurned?: boolean;
  /** Whether only Mondays count as scored days. */
  readonly onlyMondays?: boolean;
  /** Of the scored days only these are asked for; undefined for all. */
  readonly onlyDays?: ReadonlySet<number> | undefined;
}

/** The readings of an entity that is ever inside, or followed, in the order of days. The state of the first
 * day is taken over without alerts. */
export interface EntityReadings {
  readonly entity: number;
  readonly readings: readonly Reading[];
}

export interface Readings {
  /** The runs of the days that are read, in order. */
  readonly runs: readonly ScoreRecord<RunBody>[];
  /** By number. They are made one by one, because they take some hundred bytes a day and entity. */
  readonly entities: Iterable<EntityReadings>;
}

/** Days before the first one in which the last decided day, or the earlier value of a rise, is looked for. */
const earlierDays = 28;
/** Entities of a statement: 90 days of them are 1.5 million rows. */
const entitiesOfStatement = 16_384;

/** Reads a condition. @param days by `daysToRead` of the same question @throws WarehouseError */
export async function readingsOf(
  warehouse: Warehouse,
  question: ReadingsQuestion,
  days?: readonly ReadDay[],
): Promise<Readings> {
  return readingsOn(warehouse, question, days ?? (await daysToRead(warehouse, question)));
}

/** The runs of the days that are asked for, in order. */
export function runsAskedFor(days: readonly ReadDay[]): readonly Run[] {
  return days.filter(({ isWanted }) => isWanted).map(({ run }) => run);
}

async function readingsOn(
  warehouse: Warehouse,
  question: ReadingsQuestion,
  days: readonly ReadDay[],
): Promise<Readings> {
  const runs = runsAskedFor(days);
  if (runs.length === 0) return { runs, entities: [] };
  const judged = await judgedEntities(warehouse, question, days);
  const absent =
    question.kind === "account" ? await absentAccounts(warehouse, question.organization) : undefined;
  const traces = judged.map((one) => traceOf(one, days, absent));
  const changed = await bySettings(warehouse, question, days, traces);
  const ofOthers = await withOtherMembers(warehouse, question, days, traces);
  return { runs, entities: entitiesOf(traces, days, { changed, ofOthers }) };
}

/** A scored day that is read. */
export interface ReadDay {
  readonly run: Run;
  readonly isWanted: boolean;
  /** The run of the scored day before; undefined for the first day. */
  readonly previous: Run | undefined;
  /** The run that an entity which comes inside is compared with: of the earlier day of a rise or a fall, else
   * `previous`. */
  readonly before: Run | undefined;
}

/** The scored days that a question asks for, and the days that they are compared with. @throws
 * WarehouseError */
export async function daysToRead(
  warehouse: Warehouse,
  question: ReadingsQuestion,
): Promise<readonly ReadDay[]> {
  const { organization, kind, condition, fromDay, toDay, onlyMondays = false, onlyDays } = question;
  const lookback = lookbackOf(condition);
  const firstDay = fromDay - lookback - earlierDays;
  const stored = await runsBetween(
    warehouse,
    { organization: organization.id, kind },
    { fromDay: firstDay, toDay },
  );
  const runs = onlyMondays ? stored.filter(({ day }) => isMonday(day)) : stored;
  const last = runs.findLast(({ day }) => day < fromDay);
  const wanted = runs.filter(({ day }) => day >= fromDay && onlyDays?.has(day) !== false);
  const bases = lookback === 0 ? [] : wanted.map(({ day }) => baseOf(runs, day, lookback));
  const read = runs.filter((run) => wanted.includes(run) || run === last || bases.includes(run));
  return read.map((run) => {
    const isWanted = wanted.includes(run);
    const previous = read.findLast(({ day }) => day < run.day);
    const base = lookback === 0 ? previous : baseOf(read, run.day, lookback);
    return { run, isWanted, previous, before: isWanted ? base : undefined };
  });
}

/** Whether a day is a Monday: 1970-01-01 was a Thursday. */
function isMonday(day: number): boolean {
  return day % 7 === 4;
}

/** The run of the last scored day that is at least `lookback` days earlier, and at most four weeks more. */
export function baseOf(runs: readonly Run[], day: number, lookback: number): Run | undefined {
  return runs.findLast((run) => run.day <= day - lookback && run.day >= day - lookback - earlierDays);
}

async function judgedEntities(
  warehouse: Warehouse,
  question: ReadingsQuestion,
  days: readonly ReadDay[],
): Promise<Judged[]> {
  const { organization, kind, condition, followed = [], withChurned = false } = question;
  const ask = {
    organization: organization.id,
    kind,
    condition,
    followed,
    withChurned,
    days: days.map(({ run }) => judgedDay(run, condition, days)),
    fromPlace: days.findIndex(({ isWanted }) => isWanted) + 1,
    outages: outagesOf(days),
  };
  const judged: Judged[] = [];
  const range = { ...ask, firstDay: ask.days[0]?.day ?? 0, lastDay: ask.days.at(-1)?.day ?? 0 };
  for (const from of await rangesOf(warehouse, range, entitiesOfStatement)) {
    const numbers = { from, below: from + entitiesOfStatement };
    const { sql, parameters } = judgementsQuery({ ...ask, numbers });
    judged.push(...(await warehouse.rows<Judged>(`${sql} ORDER BY entity`, parameters)));
  }
  return judged;
}

/** The newest run knows the outages of all days before it. */
function outagesOf(days: readonly ReadDay[]): Outages {
  return days.at(-1)?.run.body.outages ?? [];
}

function judgedDay({ day, body }: Run, condition: DailyCondition, days: readonly ReadDay[]): JudgedDay {
  const { rowsVersion } = body;
  if (!isOfScores(condition)) return { day, rowsVersion, inFrom: 0, outFrom: 0, base: 0 };
  const { limits, lookbackDays } = conditionSql(condition);
  const base = lookbackDays === 0 ? undefined : baseOf(runsOf(days), day, lookbackDays);
  return {
    day,
    rowsVersion,
    ...limits(body),
    base: days.findIndex(({ run }) => run === base) + 1,
  };
}

const runsOf = (days: readonly ReadDay[]) => days.map(({ run }) => run);

interface Range {
  readonly organization: number;
  readonly kind: EntityKind;
  readonly firstDay: number;
  readonly lastDay: number;
}

/** Where the ranges of numbers begin that have rows on some days. @param size of a range @throws
 * WarehouseError */
export async function rangesOf(
  warehouse: Warehouse,
  { organization, kind, firstDay, lastDay }: Range,
  size: number,
): Promise<number[]> {
  const rows = await warehouse.rows<{ from: number }>(
    `SELECT DISTINCT toUInt64(intDiv(${kind}, ${size})) * ${size} AS from
     FROM ${kind}_scores
     WHERE organization = {organization:UInt32} AND day >= ${dayParameter("firstDay")} AND day <= ${dayParameter("lastDay")}
     ORDER BY from`,
    { organization, firstDay, lastDay },
  );
  return rows.map(({ from }) => from);
}

/** The days of an entity as a text: a letter for each day that is read, or a blank without a row. */
interface Trace {
  readonly entity: number;
  readonly letters: string;
}

const letters = {
  neither: "m",
  inside: "i",
  newInside: "n",
  out: "o",
  churned: "c",
  gone: "g",
  excluded: "x",
  returned: "r",
  /** An account that had a row before, and has members. */
  absent: "a",
  none: " ",
} as const;
const letterOfCode: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(judgements).map(([name, code]) => [code, letters[name as keyof typeof judgements]]),
);

function traceOf({ entity, codes, places }: Judged, days: readonly ReadDay[], absent?: Absent): Trace {
  const byPlace = new Array<string>(days.length).fill(letters.none);
  const [first = 1] = places;
  const goneSince = absent?.goneSince.get(entity) ?? Number.POSITIVE_INFINITY;
  const isExcluded = absent?.excluded.has(entity) === true;
  for (const [at, code] of [...codes].entries()) {
    const place = (places.length === codes.length ? places[at] : first + at) ?? first;
    const day = days[place - 1]?.run.day ?? 0;
    const isGone = day >= goneSince && code !== judgements.churned;
    const letter = isExcluded ? letters.excluded : isGone ? letters.gone : letterOfCode[code];
    byPlace[place - 1] = letter ?? letters.none;
  }
  // An entity without a row of the day before is new, or was excluded until then.
  for (const [at, letter] of byPlace.entries()) {
    const isReturned = at > 0 && letter === letters.inside && byPlace[at - 1] === letters.none;
    if (isReturned) byPlace[at] = letters.returned;
    if (letter === letters.newInside) byPlace[at] = letters.inside;
  }
  if (absent !== undefined && !isExcluded) {
    const firstAt = byPlace.findIndex((letter) => letter !== letters.none);
    for (const [at, { run }] of days.entries()) {
      const isAbsent = at > firstAt && byPlace[at] === letters.none && run.day < goneSince;
      if (isAbsent) byPlace[at] = letters.absent;
    }
  }
  return { entity, letters: byPlace.join("") };
}

/** Entities by day. */
type ByDay = ReadonlyMap<number, ReadonlySet<number>>;

/** Entities by day that are inside by a change of settings or model. `everybody` who is inside, on days with
 * other settings or another kind of model. */
type BySettings = ReadonlyMap<number, ReadonlySet<number> | "everybody">;

/** Whether an entity comes inside on a day, so that the rule may fire. The state of the first day is taken
 * over. */
function mayFire({ letters: all }: Trace, at: number, first: number): boolean {
  return all[at] === letters.inside && all.slice(first, at).trimEnd().at(-1) !== letters.inside;
}

/** Who came inside by settings, by another kind of model, or by a refit alone. */
async function bySettings(
  warehouse: Warehouse,
  { organization, kind, condition }: ReadingsQuestion,
  days: readonly ReadDay[],
  traces: readonly Trace[],
): Promise<BySettings> {
  const changed = new Map<number, ReadonlySet<number> | "everybody">();
  const first = days.findIndex(({ isWanted }) => isWanted);
  for (const [at, { run, previous, before, isWanted }] of days.entries()) {
    if (!isWanted || at === first || previous === undefined) continue;
    if (groundKey(previous) !== groundKey(run)) {
      changed.set(run.day, "everybody");
      continue;
    }
    // For conditions about a segment, the callers know whether a refit changed its members.
    if (!followsModel(condition)) continue;
    if (before === undefined || rulesKey(before) === rulesKey(run)) continue;
    const entities = traces.filter((trace) => mayFire(trace, at, first)).map(({ entity }) => entity);
    if (entities.length === 0) continue;
    const crossing = { organization, kind, run, reference: before, entities };
    const [byWeights] = await crossedByWeights(warehouse, [condition], crossing);
    changed.set(run.day, byWeights ?? new Set());
  }
  return changed;
}

/** Accounts that came inside, and whose set of members changed by exclusions since the compared day. */
async function withOtherMembers(
  warehouse: Warehouse,
  { organization, kind }: ReadingsQuestion,
  days: readonly ReadDay[],
  traces: readonly Trace[],
): Promise<ByDay> {
  const changed = new Map<number, ReadonlySet<number>>();
  if (kind === "user") return changed;
  const first = days.findIndex(({ isWanted }) => isWanted);
  for (const [at, { run, before, isWanted }] of days.entries()) {
    if (!isWanted || at === first || before === undefined) continue;
    const accounts = traces.filter((trace) => mayFire(trace, at, first)).map(({ entity }) => entity);
    const compared = { now: run, before };
    changed.set(run.day, await accountsWithExclusions(warehouse, organization.id, compared, accounts));
  }
  return changed;
}

function* entitiesOf(
  traces: readonly Trace[],
  days: readonly ReadDay[],
  { changed, ofOthers }: { readonly changed: BySettings; readonly ofOthers: ByDay },
): Iterable<EntityReadings> {
  const first = days.find(({ isWanted }) => isWanted)?.run.day;
  for (const { entity, letters: all } of traces) {
    const readings = days.flatMap(({ run: { day }, isWanted }, at) => {
      const letter = all[at] ?? letters.none;
      if (!isWanted || letter === letters.none) return [];
      const isInside = letter === letters.inside || letter === letters.returned;
      const bySettings = changed.get(day);
      const isBySettings = bySettings === "everybody" || bySettings?.has(entity) === true;
      const hasOthers = isInside && ofOthers.get(day)?.has(entity) === true;
      const isAdopted = letter === letters.returned || hasOthers || day === first;
      return [
        {
          day,
          isInside,
          isOut: letter === letters.out || letter === letters.absent,
          ...(letter === letters.absent && { isWithoutRow: true as const }),
          isInsideAsBefore: isInside && !isBySettings,
          standing: standings[letter] ?? (isAdopted ? "adopted" : "present"),
        },
      ];
    });
    yield { entity, readings };
  }
}

const standings: Readonly<Record<string, Standing>> = {
  [letters.churned]: "churned",
  [letters.gone]: "gone",
  [letters.excluded]: "excluded",
};
