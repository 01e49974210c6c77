/** One entity's scores, with what they come from. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { traitsOfModel } from "../churn-model.ts";
import { type Change, changeOf, type Explanation, explain, type Serving, type Subject } from "../explain.ts";
import type { MemberFeatures } from "../features.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { type FeatureRow, featuresOfRow, featuresQuery } from "../queries/feature-query.ts";
import { type CellLogOdds, memberEngagementQuery, membersQuery } from "../queries/member-query.ts";
import { read } from "../queries/query.ts";
import { type OfRun, scoreOf } from "../queries/reading.ts";
import { featuresOfStored, type StoredScore } from "../queries/stored-score.ts";
import { settingsKey } from "../settings.ts";
import { memberRisksOf } from "./member-risks.ts";
import { excludedOfKey, populationOf, type ScoredOrganization } from "./population.ts";
import { type RunBody, recordOf, type ScoreRecord } from "./records.ts";

type Run = ScoreRecord<RunBody>;

/** What served on the day of a run. */
function servingOf({ settings, scale, model }: RunBody): Serving {
  const { churnHorizonDays: horizonDays, healthWeights } = settings;
  return { horizonDays, healthWeights, scale: scale.scale, model };
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
  return { stored, explanation: explain(subjectOf(stored, run), servingOf(run.body)) };
}

export type ChangeOfScores = Readonly<Record<"health" | "engagement" | "risk", Change | null>>;

/** How an entity's scores changed from an earlier run to a later one; undefined when it has not both. */
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
  const again = { warehouse, question, rules: await rulesOf(warehouse, organization.id, earlier) };
  const recounted =
    excludedOfKey(earlier.body.settingsKey) === excludedOfKey(later.body.settingsKey)
      ? undefined
      : await countedAgain(again, earlier.day, subject);
  // A member's scores follow from settings, scale and model too; of a user only the features depend on settings.
  const isSame = kind === "user" && settingsKey(earlier.body.settings) === settingsKey(later.body.settings);
  const input = {
    before: { subject, serving: servingOf(earlier.body) },
    now: { subject: nowSubject, serving: servingOf(later.body) },
    ...(recounted !== undefined && { recounted }),
    untouched: await untouchedSince(again, later.day, recounted ?? subject),
    ...(!isSame && { underOldSettings: await countedAgain(again, later.day, nowSubject) }),
  };
  return {
    health: changeOf(input, ({ health }) => health.score),
    engagement: changeOf(input, ({ engagement }) => engagement?.score ?? null),
    risk: changeOf(input, ({ risk }) => risk),
  };
}

function subjectOf(stored: StoredScore, { body }: Run): Subject {
  const { meanEngagement } = stored;
  return {
    features: featuresOfStored(stored, traitsOfModel(body.model)),
    ...(meanEngagement !== undefined && { meanEngagement }),
  };
}

/** What scores of a day were made by, of the entity and of its members. */
interface Rules {
  readonly day: number;
  readonly body: RunBody;
  /** The risks that members have by BG/BB. */
  readonly memberRisks: CellLogOdds;
}

interface Again {
  readonly warehouse: Warehouse;
  readonly question: EntityQuestion;
  readonly rules: Rules;
}

async function rulesOf(warehouse: Warehouse, organization: number, { day, body }: Run): Promise<Rules> {
  const users = await recordOf(warehouse, { organization, kind: "user", what: "run" }, day);
  return { day, body, memberRisks: memberRisksOf(users?.body ?? body, body.settings.churnHorizonDays) };
}

/** The entity as of a day by the rules of another, without those who are excluded now. */
async function countedAgain(again: Again, day: number, subject: Subject): Promise<Subject> {
  const counted = await featuresAgain(again, { day, subject });
  const { question, rules, warehouse } = again;
  if (question.kind === "user") return counted;
  const query = memberEngagementQuery(
    { ...populationAgain(again), entity: question.entity },
    day,
    rules.body.scale.scale,
  );
  const [row] = await read<{ meanEngagement: number }>(warehouse, query);
  return { ...counted, meanEngagement: row?.meanEngagement ?? 0 };
}

/**
 * The entity on a later day, as if no event had come since the earlier one, with the traits of then. The engagement
 * of an account's members is left as it was: theirs, and not the account's, is what time does to it.
 */
function untouchedSince(again: Again, day: number, subject: Subject): Promise<Subject> {
  return featuresAgain(again, { day, subject, eventsBeforeDay: again.rules.day });
}

function populationAgain({ question: { organization, kind }, rules }: Again): Population {
  return populationOf({ ...organization, settings: rules.body.settings }, kind);
}

async function featuresAgain(
  again: Again,
  { day, subject, eventsBeforeDay }: { day: number; subject: Subject; eventsBeforeDay?: number },
): Promise<Subject> {
  const { warehouse, question, rules } = again;
  const population: Population = {
    ...populationAgain(again),
    entity: question.entity,
    ...(eventsBeforeDay !== undefined && { eventsBeforeDay }),
  };
  const [row] = await read<FeatureRow>(warehouse, featuresQuery(population, day));
  // Events that were there may have been erased since, or are passive under the other settings.
  if (row === undefined) return subject;
  const { traits } = subject.features;
  if (question.kind === "user") {
    return { ...subject, features: featuresOfRow(row, { traits, members: null }) };
  }
  const query = membersQuery(population, day, rules.memberRisks);
  const [found] = await read<MemberFeatures>(warehouse, {
    sql: query.sql,
    parameters: { ...query.parameters, horizonDays: rules.body.settings.churnHorizonDays },
  });
  const nobody = { active28: 0, activePrevious28: 0, active90: 0, topShare: 0, meanRiskLogOdds: null };
  return { ...subject, features: featuresOfRow(row, { traits, members: found ?? nobody }) };
}
