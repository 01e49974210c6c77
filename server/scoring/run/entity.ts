/** One entity's scores, with what they come from. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { traitsOfModel } from "../churn-model.ts";
import { type Change, changeOf, type Explanation, explain, type Serving, type Subject } from "../explain.ts";
import type { MemberFeatures } from "../features.ts";
import { cellLogOdds, cellRisks } from "../queries/cell-table.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { type FeatureRow, featuresOfRow, featuresQuery } from "../queries/feature-query.ts";
import { membersQuery } from "../queries/member-query.ts";
import { read } from "../queries/query.ts";
import { type OfRun, scoreOf } from "../queries/reading.ts";
import { featuresOfStored, type StoredScore } from "../queries/stored-score.ts";
import { populationOf, type ScoredOrganization } from "./population.ts";
import type { RunBody, ScoreRecord } from "./records.ts";

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
  const subject = subjectOf(before, earlier);
  const input = {
    before: { subject, serving: servingOf(earlier.body) },
    now: { subject: subjectOf(now, later), serving: servingOf(later.body) },
    untouched: await untouchedSince(warehouse, question, { earlier, laterDay: later.day, subject }),
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

/**
 * The entity on a later day, as if no event had come since the earlier one, with the traits of then. The engagement
 * of an account's members is left as it was: theirs, and not the account's, is what time does to it.
 */
async function untouchedSince(
  warehouse: Warehouse,
  { organization, kind, entity }: EntityQuestion,
  { earlier, laterDay, subject }: { earlier: Run; laterDay: number; subject: Subject },
): Promise<Subject> {
  const { settings, bgbb } = earlier.body;
  const population: Population = {
    ...populationOf({ ...organization, settings }, kind),
    entity,
    eventsBeforeDay: earlier.day,
  };
  const [row] = await read<FeatureRow>(warehouse, featuresQuery(population, laterDay));
  // Events that were there may have been erased since.
  if (row === undefined) return subject;
  const { traits } = subject.features;
  if (kind === "user") return { ...subject, features: featuresOfRow(row, { traits, members: null }) };
  const risks = cellLogOdds(cellRisks(bgbb.parameters, settings.churnHorizonDays));
  const query = membersQuery(population, laterDay, risks);
  const [found] = await read<MemberFeatures>(warehouse, {
    sql: query.sql,
    parameters: { ...query.parameters, horizonDays: settings.churnHorizonDays },
  });
  const nobody = { active28: 0, activePrevious28: 0, active90: 0, topShare: 0, meanRiskLogOdds: null };
  return { ...subject, features: featuresOfRow(row, { traits, members: found ?? nobody }) };
}
