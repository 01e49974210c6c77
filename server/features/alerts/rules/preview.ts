/**
 * What a rule would have done in the last 90 days, from daily scores: its alerts, by the steps of the nightly
 * decision, and whether they were followed by churn. Nothing is stored. See
 * docs/decisions/0086.
 */
import {
  isAboutEvent,
  isMoment,
  type RuleCondition,
  type RuleScope,
} from "../../../../contract/alerts/rules.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { ScoredOrganization } from "../../../scoring/run/population.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { type BaseRate, baseRateOf } from "./base-rate.ts";
import { type DailyCondition, isOfRisk, lookbackOf } from "./conditions.ts";
import { momentEvents } from "./moment-events.ts";
import {
  type FindSegment,
  knownDays,
  knownSegments,
  MembersInPast,
  type NamedSegments,
  noteOnSegments,
  segmentsNamed,
} from "./past-segments.ts";
import { matureDays, type Precision, type PreviewFigures, previewFigures } from "./preview-figures.ts";
import { daysToRead, type ReadDay, type Readings, readingsOf, runsAskedFor } from "./readings.ts";
import { type Replayed, replay, replayMoments } from "./replay.ts";
import { excludedAmong } from "./standing.ts";

export interface PreviewQuestion {
  readonly organization: Pick<ScoredOrganization, "id" | "zone">;
  readonly scope: RuleScope;
  readonly condition: RuleCondition;
  readonly cooldownDays: number | null;
  readonly horizonDays: number;
  readonly today: number;
}

export interface RulePreview extends Omit<PreviewFigures, "precision"> {
  /** The scored days in order; the state of the first day is taken over without alerts. */
  readonly days: readonly number[];
  /** With a condition on the churn risk: scored days without churn risks, which are not judged. */
  readonly daysWithoutRisk: number;
  readonly insideNow: number;
  readonly precision: Precision & { readonly steps: "daily" | "weekly" };
  readonly baseRate: BaseRate;
  /** What the preview could not take from the records of the rule's segments; null where there is nothing to
   * say. */
  readonly note: string | null;
}

/** Days of a preview: their daily scores are there after an import, and are never thinned out. */
const previewDays = 90;
/** Mondays are scored for a year after an import. */
const weeklyDays = 52 * 7;
/** With fewer mature alerts, precision is of weekly decisions over a year. */
const leastMature = 20;
/** Decided days in a row that end an alert of a condition on scores. */
export const exitDaysOfScores = 2;

/** The stores of a preview. */
export interface PreviewParts {
  readonly warehouse: Warehouse;
  readonly findSegment: FindSegment;
}

/** Computes the preview. @throws Refusal for conditions without a history */
export async function previewRule(parts: PreviewParts, question: PreviewQuestion): Promise<RulePreview> {
  const refused = whyNoPreview(question);
  if (refused !== undefined) throw new Refusal(refused);
  const named = await segmentsNamed(parts.findSegment, question);
  const daily = await replayed(parts.warehouse, question, named, daysOfPreview);
  const { figures, days } = daily;
  const isWeekly = figures.precision.mature < leastMature && !isMoment(question.condition);
  const judged = isWeekly
    ? await replayed(parts.warehouse, question, named, { pastDays: weeklyDays, onlyMondays: true })
    : daily;
  const { kind } = question.scope;
  const { scope } = judged.members;
  return {
    ...figures,
    days,
    daysWithoutRisk: daily.daysWithoutRisk,
    insideNow: daily.insideNow,
    precision: { ...judged.figures.precision, steps: isWeekly ? "weekly" : "daily" },
    medianLeadDays: judged.figures.medianLeadDays,
    baseRate: await baseRateOf(parts.warehouse, {
      organization: question.organization.id,
      kind: kindOf(question.scope),
      runs: judged.runs,
      horizonDays: question.horizonDays,
      days: matureDays(judged.about),
      within: scope && { members: scope, placeOf: (day: number) => judged.members.placeOf(day) },
    }),
    note: noteOnSegments(named, { kind, today: question.today, fromDay: question.today - previewDays }),
  };
}

/** Why a rule has no preview, as a sentence; undefined for a rule that has a preview. */
function whyNoPreview({ condition }: Pick<PreviewQuestion, "condition">): string | undefined {
  switch (condition.kind) {
    case "sourceSilent":
      return "sourceSilent has no preview: a source is no user or account that churns.";
    case "lastOwnerRemoved":
      return "lastOwnerRemoved has no preview: isAccountOwner has no history.";
    default:
      return undefined;
  }
}

function kindOf({ kind }: RuleScope): EntityKind {
  return kind === "users" ? "user" : "account";
}

interface Span {
  readonly pastDays: number;
  readonly onlyMondays: boolean;
  /** Whether stored risks are judged by the newest limits of risk bands, and days without risks are left out.
   * The nightly decision used the limits of its day. */
  readonly byNewestLimits?: boolean;
}

const daysOfPreview: Span = { pastDays: previewDays, onlyMondays: false };

async function replayed(warehouse: Warehouse, question: PreviewQuestion, named: NamedSegments, span: Span) {
  const { horizonDays } = question;
  const judged = { ...span, byNewestLimits: true };
  const {
    runs,
    members,
    replays: all,
    daysWithoutRisk,
  } = await replaysOf(warehouse, question, named, judged);
  const days = runs.map(({ day }) => day);
  const about = { days, horizonDays, outages: runs.at(-1)?.body.outages ?? [] };
  const tally = new Tally(all, days.at(-1));
  const figures = previewFigures(tally, about);
  return { figures, daysWithoutRisk, insideNow: tally.inside, days, runs, members, about };
}

interface Replays {
  readonly runs: Readings["runs"];
  readonly daysWithoutRisk: number;
  readonly members: MembersInPast;
  /** The replays are computed while they are read. */
  readonly replays: Iterable<Replayed>;
}

/** The alerts of the past of each entity that was ever inside, or churned.
 * @throws Refusal for a condition that has no preview */
export async function replaysOf(
  warehouse: Warehouse,
  question: PreviewQuestion,
  named: NamedSegments,
  { pastDays, onlyMondays, byNewestLimits = false }: Span = daysOfPreview,
): Promise<Replays> {
  const { organization, scope, condition, today } = question;
  const read = dailyConditionOf(condition);
  const known = knownSegments(named, today);
  const asked = {
    organization,
    kind: kindOf(scope),
    toDay: today,
    onlyMondays,
    onlyDays: knownDays(known),
    // On an earlier day, a rise has no day to compare with.
    fromDay: today - pastDays + lookbackOf(read),
    withChurned: true,
  };
  const scored = await daysToRead(warehouse, { ...asked, condition: read });
  const days = byNewestLimits && isOfRisk(read) ? daysWithRisk(scored) : scored;
  const runs = runsAskedFor(days);
  const daysWithoutRisk = runsAskedFor(scored).length - runs.length;
  const of = { organization: organization.id, kind: asked.kind };
  const members = await MembersInPast.on(warehouse, known, of, runs);
  const judged: DailyCondition =
    members.judged === undefined ? read : { kind: "wasInSegment", recorded: members.judged };
  const moments = await momentsOf(warehouse, question, runs[0]?.day ?? today);
  const followed = [...moments.keys()];
  const readings = await readingsOf(warehouse, { ...asked, condition: judged, followed }, days);
  return { runs, daysWithoutRisk, members, replays: replays(question, readings, members, moments) };
}

/** The days that have churn risks, each with the risk bands of the newest day. */
function daysWithRisk(days: readonly ReadDay[]): readonly ReadDay[] {
  const riskScale = days.at(-1)?.run.body.riskScale;
  if (riskScale === undefined) return [];
  const runs = new Map(
    days
      .filter(({ run }) => run.body.choice.rung !== null)
      .map(({ run }) => [run, { ...run, body: { ...run.body, riskScale } }]),
  );
  return days.flatMap((day) => {
    const run = runs.get(day.run);
    return run === undefined ? [] : [{ ...day, run, before: day.before && runs.get(day.before) }];
  });
}

/** Counts the entities that are inside on the last day while the replays are read. */
class Tally implements Iterable<Replayed> {
  inside = 0;
  readonly #replays: Iterable<Replayed>;
  readonly #lastDay: number | undefined;

  constructor(replays: Iterable<Replayed>, lastDay: number | undefined) {
    this.#replays = replays;
    this.#lastDay = lastDay;
  }

  *[Symbol.iterator](): Iterator<Replayed> {
    for (const one of this.#replays) {
      if (one.lastInside !== null && one.lastInside === this.#lastDay) this.inside += 1;
      yield one;
    }
  }
}

function* replays(
  { condition, cooldownDays, horizonDays }: PreviewQuestion,
  { entities }: Readings,
  members: MembersInPast,
  moments: ReadonlyMap<number, readonly number[]>,
): Iterable<Replayed> {
  const exitDays = condition.kind === "inSegment" ? 1 : exitDaysOfScores;
  const rule = { cooldownDays: cooldownDays ?? horizonDays, exitDays };
  for (const { entity, readings: all } of entities) {
    const readings = members.readings(entity, all);
    if (readings === undefined) continue;
    const days = moments.get(entity)?.filter((day) => members.isInScope(entity, day));
    const own = days === undefined ? replay(rule, entity, readings) : replayMoments(entity, days, readings);
    const wasInScope = (churn: number) => members.wasInScope(entity, churn - horizonDays, churn);
    yield members.scope === undefined ? own : { ...own, churns: own.churns.filter(wasInScope) };
  }
}

/** @throws Refusal for a condition that has no preview */
function dailyConditionOf(condition: RuleCondition): DailyCondition {
  switch (condition.kind) {
    case "sourceSilent":
    case "lastOwnerRemoved":
      throw new Refusal(`${condition.kind} has no preview.`);
    // Its members are read when the scored days are known.
    case "inSegment":
    case "event":
    case "paymentFailed":
    case "cardExpires":
    case "cancellationScheduled":
      return { kind: "never" };
    default:
      return condition;
  }
}

/** The days of the moments of each entity; empty for a condition that is no moment. */
async function momentsOf(
  warehouse: Warehouse,
  { organization: { id, zone }, scope, condition, today }: PreviewQuestion,
  fromDay: number,
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (!isAboutEvent(condition)) return new Map();
  const events = await momentEvents(warehouse, {
    organization: id,
    kind: kindOf(scope),
    condition,
    fromMs: zone.startOfDay(fromDay),
    toMs: zone.startOfDay(today + 1),
  });
  const entities = events.map(({ entity }) => entity);
  const excluded = new Set(await excludedAmong(warehouse, id, kindOf(scope), [...new Set(entities)]));
  const counted = events.filter(({ entity }) => !excluded.has(entity));
  const byEntity = Map.groupBy(counted, ({ entity }) => entity);
  return new Map([...byEntity].map(([entity, own]) => [entity, own.map(({ timeMs }) => zone.dayOf(timeMs))]));
}
