/** One entity's scores, with the facts behind them. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { eventsOfModel } from "../churn/churn-model.ts";
import type { CellRisks } from "../queries/cell-table.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { type FeatureRow, featuresOfRow } from "../queries/feature-query.ts";
import { healthFiguresOf, readHealthValues, valuesByTrait } from "../queries/health-sql.ts";
import { engagedMembersQuery } from "../queries/lists/member-query.ts";
import { type OfRun, scoreOf } from "../queries/lists/reading.ts";
import { featuresOfStored, rowsOfRun, type StoredScore } from "../queries/lists/stored-score.ts";
import { read } from "../queries/query.ts";
import { computedEntity } from "../queries/snapshot-rows.ts";
import { standingQuery } from "../queries/subscription-query.ts";
import { changesQuery, withLeft } from "../queries/target-query.ts";
import { traitsOfEntity } from "../queries/trait-reading.ts";
import type { SubscriptionEnd } from "../scores/billing.ts";
import { type Change, changeOf, changeText } from "../scores/change.ts";
import { type ChurnChange, departureBy } from "../scores/churn-changes.ts";
import { type Explanation, explain, type Serving, type Subject } from "../scores/explain.ts";
import type { MemberFeatures } from "../scores/features.ts";
import { cutoffBefore, observedCutoff } from "../scores/observed-days.ts";
import { settingsKey } from "../scores/settings.ts";
import { stateOf } from "../scores/state.ts";
import { memberRisksOf } from "./member-risks.ts";
import { excludedKey, excludedOfKey, populationOf, type ScoredOrganization } from "./population.ts";
import type { RunBody } from "./record-bodies.ts";
import { recordOf, type ScoreRecord } from "./records.ts";
import { modelOfEntity, traitsOfRun } from "./records-of-0-1.ts";

type Run = ScoreRecord<RunBody>;

/** The settings, scale and model of an entity on the day of a run. */
function servingOf(body: RunBody, kind: EntityKind, { features }: Subject): Serving {
  const { settings, scale, riskScale } = body;
  const { churnHorizonDays: horizonDays, healthWeights, healthTraits, churnTargets } = settings;
  const target = churnTargets[kind];
  const isChurned = stateOf(features, horizonDays, target) === "churned";
  const model = modelOfEntity(body, features, isChurned);
  return { horizonDays, target, healthWeights, healthTraits, riskScale, scale: scale.scale, model };
}

/** Where the rows of a run are. */
export function rowsOf(organization: number, kind: EntityKind, { day, body }: Run): OfRun {
  return { organization, kind, day, rowsVersion: body.rowsVersion };
}

export interface EntityQuestion {
  readonly organization: Omit<ScoredOrganization, "settings">;
  readonly kind: EntityKind;
  /** Its number. */
  readonly entity: number;
}

export interface ExplainedScore {
  readonly stored: StoredScore;
  readonly explanation: Explanation;
}

/** An entity's scores of a run, explained; undefined when it had none. */
export async function explainedScore(
  warehouse: Warehouse,
  { organization, kind, entity }: EntityQuestion,
  run: Run,
): Promise<ExplainedScore | undefined> {
  const stored = await scoreOf(warehouse, rowsOf(organization.id, kind, run), entity);
  if (stored === undefined) return undefined;
  const previousVolume28 = await previousVolume(warehouse, { organization, kind, entity }, run);
  const subject = {
    ...subjectOf(stored, run),
    ...(previousVolume28 !== undefined && { previousVolume28 }),
  };
  return { stored, explanation: explain(subject, servingOf(run.body, kind, subject)) };
}

const daysOfVolume = 28;

/** The volume of the 28 days before the last 28, from the scores of then. Undefined without them, or under
 * other settings. */
async function previousVolume(
  warehouse: Warehouse,
  { organization, kind, entity }: EntityQuestion,
  { day, body }: Run,
): Promise<number | undefined> {
  const key = { organization: organization.id, kind, what: "run" } as const;
  const run = await recordOf(warehouse, key, day - daysOfVolume);
  if (run === undefined || run.body.settingsKey !== body.settingsKey) return undefined;
  return (await scoreOf(warehouse, rowsOf(organization.id, kind, run), entity))?.volume28;
}

/** How many of an entity's newest changes are read: an older change does not decide whether it churned. */
const maxChanges = 10_000;

interface Departure {
  readonly day: number;
  /** Of a subscription: whether a failed payment ended it, and no decision of the customer. Null for other
   * targets. */
  readonly isInvoluntary: boolean | null;
}

/** The departure as of the start of `day`; undefined for an entity that has not left, or whose events were
 * erased since. */
export async function departureOf(
  warehouse: Warehouse,
  { kind, entity }: Pick<EntityQuestion, "kind" | "entity">,
  organization: ScoredOrganization,
  day: number,
): Promise<Departure | undefined> {
  const population = { ...populationOf(organization, kind), entity };
  if (organization.settings.churnTargets[kind].by === "subscription") {
    const { sql, parameters } = standingQuery(population, day, "departure");
    const [end] = await read<SubscriptionEnd>(warehouse, {
      sql: `SELECT endedMs AS atMs, isInvoluntary FROM (${sql}) WHERE hasLeft`,
      parameters,
    });
    return end && { day: organization.zone.dayOf(end.atMs), isInvoluntary: end.isInvoluntary };
  }
  const changes = changesQuery(population, day);
  const rows = await read<ChurnChange>(warehouse, {
    sql: `SELECT day, at AS timeMs, toBool(isChurned) AS isChurned FROM (${changes.sql})
      ORDER BY day DESC, at DESC LIMIT ${maxChanges} SETTINGS allow_simdjson = 0`,
    parameters: changes.parameters,
  });
  const left = departureBy(rows, day);
  const isOfTrait = organization.settings.churnTargets[kind].by === "trait";
  return left && { day: isOfTrait ? organization.zone.dayOf(left.timeMs) : left.day, isInvoluntary: null };
}

/** The days on which entities left that have churned in a run, by their numbers: for lists, as the page of
 * one has the day. */
export async function departureDaysOf(
  warehouse: Warehouse,
  { kind, entities }: { readonly kind: EntityKind; readonly entities: readonly number[] },
  { id, zone }: Pick<ScoredOrganization, "id" | "zone">,
  run: Run,
): Promise<ReadonlyMap<number, number>> {
  if (entities.length === 0) return new Map();
  const { settings, outages } = run.body;
  const { day } = run;
  const population = populationOf({ id, zone, settings }, kind);
  const { by } = settings.churnTargets[kind];
  if (by === "silence") {
    const { kind: _, ...ofRun } = rowsOf(id, kind, run);
    const rows = await read<{ entity: number; idleDays: number }>(warehouse, {
      sql: `SELECT ${kind} AS entity, idle_days AS idleDays FROM ${kind}_scores FINAL
        WHERE ${rowsOfRun(kind)} AND ${kind} IN {entities:Array(UInt32)}`,
      parameters: { ...ofRun, entities: [...entities] },
    });
    const silentFrom = (idleDays: number) => cutoffBefore(day, idleDays - settings.churnHorizonDays, outages);
    return new Map(rows.map(({ entity, idleDays }) => [entity, silentFrom(idleDays)]));
  }
  if (by === "subscription") {
    const { sql, parameters } = standingQuery(population, day, "departures");
    const ends = await read<{ entity: number; atMs: number }>(warehouse, {
      sql: `SELECT entity, endedMs AS atMs FROM (${sql}) WHERE hasLeft AND entity IN {entities:Array(UInt32)}`,
      parameters: { ...parameters, entities: [...entities] },
    });
    return new Map(ends.map(({ entity, atMs }) => [entity, zone.dayOf(atMs)]));
  }
  const changes = changesQuery(population, day);
  const rows = await read<ChurnChange & { readonly entity: number }>(warehouse, {
    sql: `SELECT entity, day, at AS timeMs, toBool(isChurned) AS isChurned FROM (${changes.sql})
      WHERE entity IN {entities:Array(UInt32)}
      ORDER BY entity, day DESC, at DESC LIMIT ${maxChanges} BY entity SETTINGS allow_simdjson = 0`,
    parameters: { ...changes.parameters, entities: [...entities] },
  });
  return new Map(
    [...Map.groupBy(rows, ({ entity }) => entity)].flatMap(([entity, of]) => {
      const left = departureBy(of, day);
      return left === undefined
        ? []
        : [[entity, by === "trait" ? zone.dayOf(left.timeMs) : left.day] as const];
    }),
  );
}

export type ChangeOfScores = Readonly<Record<"health" | "engagement" | "risk", Change | null>> & {
  /** The change of health as a sentence; null without one. */
  readonly text: string | null;
};

/** How an entity's scores changed between two runs; undefined when it lacks scores in one of them. */
export async function changeBetween(
  warehouse: Warehouse,
  question: EntityQuestion,
  earlier: Run,
  later: Run,
): Promise<ChangeOfScores | undefined> {
  const { organization, kind, entity } = question;
  const before = await scoreOf(warehouse, rowsOf(organization.id, kind, earlier), entity);
  const now = await scoreOf(warehouse, rowsOf(organization.id, kind, later), entity);
  if (before === undefined || now === undefined) return undefined;
  const [subject, nowSubject] = [subjectOf(before, earlier), subjectOf(now, later)];
  const rules = await rulesOf(warehouse, organization.id, earlier);
  const asOfLater = recomputeAt(later, { warehouse, question, rules });
  const recounted =
    excludedOfKey(earlier.body.settingsKey) === (await excludedKey(warehouse, organization.id))
      ? undefined
      : await recomputed(recomputeAt(earlier, { warehouse, question, rules }), subject);
  const input = {
    before: { subject, serving: servingOf(earlier.body, kind, subject) },
    now: { subject: nowSubject, serving: servingOf(later.body, kind, nowSubject) },
    elapsedDays: observedEnd(later) - observedEnd(earlier),
    ...(recounted !== undefined && { recounted }),
    byOldRules: await byOldRules(asOfLater, later.body, nowSubject),
  };
  const health = changeOf(input, (explanation) => explanation.health.score);
  return {
    health,
    text: health === null ? null : changeText(input, health),
    engagement: changeOf(input, ({ engagement }) => engagement?.score ?? null),
    risk: changeOf(input, ({ risk }) => risk),
  };
}

/** The end of a run's days by its own outages, as its tenures have it. */
function observedEnd({ day, body }: Run): number {
  return observedCutoff(day, body.outages);
}

function subjectOf(stored: StoredScore, { body }: Run): Subject {
  const { meanEngagement } = stored;
  return {
    features: featuresOfStored(stored, traitsOfRun(body)),
    traitValues: valuesByTrait(traitsInHealth(body), stored.healthValues),
    ...(meanEngagement !== undefined && { meanEngagement }),
  };
}

function traitsInHealth({ settings }: RunBody): readonly string[] {
  return settings.healthTraits.map(({ trait }) => trait);
}

/** The settings, scale and model behind the scores of a day, of the entity and of its members. */
interface Rules {
  readonly day: number;
  readonly body: RunBody;
  /** The risks that members have by BG/BB. */
  readonly memberRisks: CellRisks;
}

interface Parts {
  readonly warehouse: Warehouse;
  readonly question: EntityQuestion;
  readonly rules: Rules;
}

/** The inputs for computing the entity again as of a day. */
interface Recomputation extends Parts {
  readonly day: number;
  /** By the rules, without the outages that the day's run knew. */
  readonly population: Population & { readonly entity: number };
}

function recomputeAt({ day, body: { outages } }: Run, parts: Parts): Recomputation {
  const { organization, kind, entity } = parts.question;
  const asOfThen = { ...organization, settings: parts.rules.body.settings, outages };
  return { ...parts, day, population: { ...populationOf(asOfThen, kind), entity } };
}

async function rulesOf(warehouse: Warehouse, organization: number, { day, body }: Run): Promise<Rules> {
  const users = await recordOf(warehouse, { organization, kind: "user", what: "run" }, day);
  return { day, body, memberRisks: memberRisksOf(users?.body ?? body, body.settings.churnHorizonDays) };
}

/**
 * The entity as of the later day by the model and settings of the earlier day. A member's scores follow from
 * settings, scale and model. For a user only the features depend on settings, and the known traits and counts
 * of events on the model.
 */
async function byOldRules(again: Recomputation, later: RunBody, now: Subject): Promise<Subject> {
  const { warehouse, question, rules, day, population } = again;
  const isSame = settingsKey(rules.body.settings) === settingsKey(later.settings);
  const stored = eventsOfModel(later.model);
  const isCounted = eventsOfModel(rules.body.model).every((event) => stored.includes(event));
  const subject = isSame && isCounted && question.kind === "user" ? now : await recomputed(again, now);
  const traitValues = isSame
    ? now.traitValues
    : {
        ...(await readHealthValues(warehouse, population, day, traitsInHealth(rules.body))),
        ...healthFiguresOf(now.features),
      };
  const { traits, numbers } = traitsOfRun(rules.body);
  const names = [...new Set(traits.map(({ trait }) => trait))];
  // Only the traits that the later model reads are stored.
  const told = await traitsOfEntity(warehouse, population, { entity: question.entity, day, names, numbers });
  const features = { ...subject.features, ...told };
  return { ...subject, features, ...(traitValues !== undefined && { traitValues }) };
}

const noMembers = {
  active28: 0,
  activePrevious28: 0,
  active90: 0,
  topShare: 0,
  meanRiskLogOdds: null,
  meanEngagement: 0,
};

/** The entity by these settings, this scale and this model, without members who are excluded now. */
async function recomputed(
  { warehouse, question, rules, day, population }: Recomputation,
  subject: Subject,
): Promise<Subject> {
  const { entities, users } = computedEntity(population, day, eventsOfModel(rules.body.model));
  const [row] = await read<FeatureRow>(warehouse, withLeft(population, day, entities));
  // Events that were there may have been erased since, or are passive under the other settings.
  if (row === undefined) return subject;
  const { traits, numbers, planIdleDays, account, billing, seats, pulse } = subject.features;
  const facts = {
    traits,
    numbers,
    planIdleDays,
    account,
    billing,
    members: null,
    ...(seats !== undefined && { seats }),
    ...(pulse !== undefined && { pulse }),
  };
  if (question.kind === "user") return { ...subject, features: featuresOfRow(row, facts) };
  const query = engagedMembersQuery(users, rules.memberRisks, rules.body.scale.scale);
  const [found = noMembers] = await read<MemberFeatures & { readonly meanEngagement: number }>(warehouse, {
    sql: `SELECT * EXCEPT (entity) FROM (${query.sql}) WHERE entity = {entity:UInt32}`,
    parameters: { ...query.parameters, horizonDays: rules.body.settings.churnHorizonDays },
  });
  const { meanEngagement, ...members } = found;
  return { ...subject, meanEngagement, features: featuresOfRow(row, { ...facts, members }) };
}
