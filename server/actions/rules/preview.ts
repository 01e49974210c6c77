/**
 * The past of a rule that is not saved, from the daily rows of scores of 90 days: its alerts by the same steps as the nightly decision, and
 * whether they were followed by churn. Nothing is stored. See docs/decisions/0086.
 */
import { isMoment, type RuleCondition, type RuleScope } from "../../../contract/actions/rules.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { EntityKind, ScoredOrganization } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { momentEvents } from "../moments/billing-moments.ts";
import { type BaseRate, baseRateOf } from "./base-rate.ts";
import { type DailyCondition, lookbackOf } from "./conditions.ts";
import { matureDays, type Precision, type PreviewFigures, previewFigures } from "./preview-figures.ts";
import { type Readings, readingsOf } from "./readings.ts";
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
  /** In order; the first one is taken over without alerts. */
  readonly days: readonly number[];
  readonly insideNow: number;
  readonly precision: Precision & { readonly steps: "daily" | "weekly" };
  readonly baseRate: BaseRate;
}

/** The daily rows of so many days are there after an import, and are never thinned out. */
const previewDays = 90;
/** Mondays are scored for a year after an import. */
const weeklyDays = 52 * 7;
/** With fewer mature alerts, Mondays are decided. */
const leastMature = 20;
/** Decided days in a row that end an alert of a condition on scores. */
export const exitDaysOfScores = 2;

/** Computes the preview. @throws Refusal for conditions and scopes without a history */
export async function previewRule(warehouse: Warehouse, question: PreviewQuestion): Promise<RulePreview> {
  const refused = whyNoPreview(question);
  if (refused !== undefined) throw new Refusal(refused);
  const daily = await replayed(warehouse, question, { pastDays: previewDays, onlyMondays: false });
  const { figures, days } = daily;
  const isWeekly = figures.precision.mature < leastMature && !isMoment(question.condition);
  const judged = isWeekly
    ? await replayed(warehouse, question, { pastDays: weeklyDays, onlyMondays: true })
    : daily;
  return {
    ...figures,
    ...{ days, insideNow: daily.insideNow },
    precision: { ...judged.figures.precision, steps: isWeekly ? "weekly" : "daily" },
    medianLeadDays: judged.figures.medianLeadDays,
    baseRate: await baseRateOf(warehouse, {
      ...{ organization: question.organization.id, kind: kindOf(question.scope) },
      ...{ runs: judged.runs, horizonDays: question.horizonDays },
      days: matureDays(judged.about),
    }),
  };
}

/** The reason why a rule has no preview, as a sentence; undefined for others. */
function whyNoPreview({
  scope,
  condition,
}: Pick<PreviewQuestion, "scope" | "condition">): string | undefined {
  if (scope.segment !== undefined)
    return "scope.segment has no preview: the users and accounts that a segment had on past days are not stored.";
  switch (condition.kind) {
    case "inSegment":
      return "condition.segment has no preview: the users and accounts that a segment had on past days are not stored.";
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
}

async function replayed(warehouse: Warehouse, question: PreviewQuestion, span: Span) {
  const { horizonDays } = question;
  const { runs, replays: all } = await replaysOf(warehouse, question, span);
  const days = runs.map(({ day }) => day);
  const about = { days, horizonDays, outages: runs.at(-1)?.body.outages ?? [] };
  const tally = new Tally(all, days.at(-1));
  const figures = previewFigures(tally, about);
  return { figures, insideNow: tally.inside, days, runs, about };
}

/** The alerts of the past of each entity that was ever inside, or churned. They are computed while they are read.
 * @throws Refusal for a condition that has no preview */
export async function replaysOf(
  warehouse: Warehouse,
  question: PreviewQuestion,
  { pastDays, onlyMondays }: Span = { pastDays: previewDays, onlyMondays: false },
): Promise<{ readonly runs: Readings["runs"]; readonly replays: Iterable<Replayed> }> {
  const { organization, scope, condition, today } = question;
  const moments = await momentsOf(warehouse, question, today - pastDays);
  const read = dailyConditionOf(condition);
  const readings = await readingsOf(warehouse, {
    ...{ organization, kind: kindOf(scope), condition: read, toDay: today, onlyMondays },
    // Before, a rise has no day to compare with.
    fromDay: today - pastDays + lookbackOf(read),
    ...{ decidedThrough: null, takesOver: true, withChurned: true, followed: [...moments.keys()] },
  });
  return { runs: readings.runs, replays: replays(question, readings, moments) };
}

/** Counts those that are inside on the last day while the replays are read. */
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
  { cooldownDays, horizonDays }: PreviewQuestion,
  { entities }: Readings,
  moments: ReadonlyMap<number, readonly number[]>,
): Iterable<Replayed> {
  const rule = { cooldownDays: cooldownDays ?? horizonDays, exitDays: exitDaysOfScores };
  for (const { entity, readings } of entities) {
    const days = moments.get(entity);
    yield days === undefined ? replay(rule, entity, readings) : replayMoments(entity, days, readings);
  }
}

/** @throws Refusal for a condition that has no preview */
function dailyConditionOf(condition: RuleCondition): DailyCondition {
  switch (condition.kind) {
    case "inSegment":
    case "sourceSilent":
    case "lastOwnerRemoved":
      throw new Refusal(`${condition.kind} has no preview.`);
    case "paymentFailed":
    case "cancellationScheduled":
      return { kind: "never" };
    default:
      return condition;
  }
}

/** The days of the moments of each entity; none for another condition. */
async function momentsOf(
  warehouse: Warehouse,
  { organization: { id, zone }, scope, condition, today }: PreviewQuestion,
  fromDay: number,
): Promise<ReadonlyMap<number, readonly number[]>> {
  const { kind } = condition;
  if (kind !== "paymentFailed" && kind !== "cancellationScheduled") return new Map();
  const events = await momentEvents(warehouse, {
    ...{ organization: id, kind: kindOf(scope), moment: kind },
    ...{ fromMs: zone.startOfDay(fromDay), toMs: zone.startOfDay(today + 1) },
  });
  const entities = events.map(({ entity }) => entity);
  const excluded = new Set(await excludedAmong(warehouse, id, kindOf(scope), [...new Set(entities)]));
  const counted = events.filter(({ entity }) => !excluded.has(entity));
  const byEntity = Map.groupBy(counted, ({ entity }) => entity);
  return new Map([...byEntity].map(([entity, own]) => [entity, own.map(({ timeMs }) => zone.dayOf(timeMs))]));
}
