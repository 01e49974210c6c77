/** Handlers of the JSON API about the scores of one user or account. */

import { partOfTrait } from "../../contract/api/health-traits.ts";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { errorMessages } from "../../contract/errors.ts";
import { ApiError } from "../../contract/refusal.ts";
import { churnEventSender } from "../analytics/churn-event.ts";
import { formatDay } from "../calendar/days.ts";
import type { AnalysisHandlers, ApiContext, OrganizationContext } from "../http/api/context.ts";
import { dayOfParameter } from "../http/api/days.ts";
import { positionIn } from "../scoring/churn/activity-order.ts";
import { lacksData, servingResult } from "../scoring/churn/ladder.ts";
import { nameOfRung } from "../scoring/churn/model-names.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { accountNumber, engagementRank, historyOf, scoreOf } from "../scoring/queries/lists/reading.ts";
import {
  changeBetween,
  departureOf,
  type EntityQuestion,
  type ExplainedScore,
  explainedScore,
  rowsOf,
} from "../scoring/run/entity.ts";
import { marksOf } from "../scoring/run/marks.ts";
import { defaultRests } from "../scoring/run/scheduler.ts";
import type { Explanation } from "../scoring/scores/explain.ts";
import { cutoffBefore, daysWithin, windowStart } from "../scoring/scores/observed-days.ts";
import { riskBandOf } from "../scoring/scores/risk-scale.ts";
import { verdictOf } from "../scoring/scores/verdict.ts";
import { ratioToBaseRate } from "./rows.ts";
import {
  accountsRun,
  activityOrderOfRun,
  baseRateOf,
  churnDefinitionOf,
  earlierRun,
  leadsWithRisk,
  limitsOf,
  type Run,
  riskScaleOfRun,
  scoreContext,
} from "./score-context.ts";
import { knownUser } from "./users.ts";

type ScoreContext =
  | ApiContext<"GET /api/users/:userId/score">
  | ApiContext<"GET /api/accounts/:accountId/score">;
type HistoryContext =
  | ApiContext<"GET /api/users/:userId/score/history">
  | ApiContext<"GET /api/accounts/:accountId/score/history">;

interface Entity {
  readonly kind: EntityKind;
  readonly number: number;
  readonly id: string;
  /** Of a user: the number of the account that they belong to. */
  readonly account?: number | undefined;
}

export const scoresHandlers = {
  "GET /api/users/:userId/score": async (context) => scoreAnswer(context, await userOf(context)),

  "GET /api/users/:userId/score/history": async (context) => historyAnswer(context, await userOf(context)),

  "GET /api/accounts/:accountId/score": async (context) => scoreAnswer(context, await accountOf(context)),

  "GET /api/accounts/:accountId/score/history": async (context) =>
    historyAnswer(context, await accountOf(context)),

  /** @throws ApiError within the time for which scheduled runs of a day rest, too */
  "POST /api/scores": async (context) => {
    const { id } = context.organization;
    if (inHand.has(id))
      throw new ApiError("rate_limit_exceeded", errorMessages.scoredTooSoon, whileScoringSeconds);
    inHand.add(id);
    try {
      await untilRested(context);
      const scoring = context.scoring.score({ organization: id }, () => undefined);
      const { day, kinds, stopped } = await scoring;
      const scored = (which: "user" | "account") => kinds.find(({ kind }) => kind === which)?.entities ?? 0;
      return {
        day: formatDay(day),
        users: scored("user"),
        accounts: scored("account"),
        stoppedSince: stopped === null ? null : formatDay(context.zone.dayOf(stopped.sinceMs)),
        silentSource: stopped?.source ?? null,
      };
    } finally {
      inHand.delete(id);
    }
  },
} satisfies Partial<AnalysisHandlers>;

type OfUser = OrganizationContext & Pick<ApiContext<"GET /api/users/:userId/score">, "path">;
type OfAccount = OrganizationContext & Pick<ApiContext<"GET /api/accounts/:accountId/score">, "path">;

async function userOf(context: OfUser): Promise<Entity> {
  const { user, account } = await knownUser(context);
  return { kind: "user", number: user.number, id: context.path.userId, account: account?.number };
}

async function accountOf({ warehouse, organization, path }: OfAccount): Promise<Entity> {
  const number = await accountNumber(warehouse, organization.id, path.accountId);
  if (number === undefined) throw new ApiError("not_found", "There is no account with this id.");
  return { kind: "account", number, id: path.accountId };
}

async function historyAnswer(
  { warehouse, organization, zone, query }: HistoryContext,
  { kind, number }: Entity,
): Promise<RouteAnswer<"GET /api/users/:userId/score/history">> {
  const asked = {
    organization: organization.id,
    fromDay: query.from === undefined ? 0 : dayOfParameter("from", query.from),
    toDay: query.to === undefined ? lastDay : dayOfParameter("to", query.to),
  };
  const days = await historyOf(warehouse, kind, { ...asked, entity: number });
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  // A change that lies before an entity's first score, or on it, changed nothing of its own.
  const marks =
    first === undefined || last === undefined
      ? []
      : await marksOf(warehouse, zone, { ...asked, kind, fromDay: first + 1, toDay: last });
  return {
    days: days.map((each) => ({ ...each, day: formatDay(each.day) })),
    marks: marks.map(({ day, changes, exclusionsChanged }) => {
      return { day: formatDay(day), changes: changes.map((change) => ({ ...change })), exclusionsChanged };
    }),
  };
}

/** 2299-12-31 */
const lastDay = 120_529;

async function scoreAnswer(
  context: ScoreContext,
  entity: Entity,
): Promise<RouteAnswer<"GET /api/users/:userId/score">> {
  const { kind, number, id } = entity;
  const { warehouse, organization, zone, query } = context;
  const { run, head } = await scoreContext(context, kind);
  const since = query.since === undefined ? undefined : dayOfParameter("since", query.since);
  const question: EntityQuestion = { organization: { id: organization.id, zone }, kind, entity: number };
  const score = run === undefined ? undefined : await explainedScore(warehouse, question, run);
  const isAccountChurned = run !== undefined && (await hasChurnedAccount(context, entity, run.day));
  if (run === undefined || score === undefined) {
    return {
      id,
      ...head,
      ...noScore(head.day !== null),
      verdict: verdictOf({ state: "", healthBand: "", risk: null, isAccountChurned }, riskScaleOfRun(run)),
      model: run === undefined ? null : modelOf(run, kind),
    };
  }
  const engagement = score.explanation.engagement;
  const rank =
    engagement === null
      ? null
      : await engagementRank(warehouse, rowsOf(organization.id, kind, run), engagement.score);
  return {
    id,
    ...head,
    note: null,
    daysWithoutData: daysWithoutData(score, run),
    ...scoresOf(score, run, rank),
    activityRank: await activityRankOf(context, kind, score, run),
    verdict: verdictOf({ ...score.stored, isAccountChurned }, run.body.riskScale),
    ...(await churnOf(context, entity, score, run)),
    model: modelOf(run, kind),
    change: since === undefined ? null : await changeAnswer(context, question, run, since),
  };
}

/** Outage days within the days that the sentences about an entity count. */
function daysWithoutData({ stored: { idleDays } }: ExplainedScore, { day, body: { outages } }: Run): number {
  return daysWithin(outages, windowStart(day, Math.max(28, idleDays), outages), day);
}

function noScore(hasRun: boolean) {
  return {
    daysWithoutData: 0,
    state: "no_data",
    note: hasRun
      ? "Nothing was done before this day: the first score is that of the day after the first event."
      : "No user has been scored yet: scores are computed every night.",
    health: {
      score: null,
      healthBand: "none",
      contributions: {},
      cap: 0,
      capReasons: [] as never[],
      traits: [] as never[],
    },
    engagement: null,
    momentum: null,
    risk: null,
    activityRank: null,
    returnProbability: null,
    churnedDay: null,
    churnCause: null,
    endsAt: null,
    change: null,
  } as const;
}

async function hasChurnedAccount(
  context: ScoreContext,
  { account }: Pick<Entity, "account">,
  day: number,
): Promise<boolean> {
  const run = account === undefined ? undefined : await accountsRun(context, day);
  if (run === undefined || account === undefined) return false;
  return (await scoreOf(context.warehouse, run, account))?.state === "churned";
}

/** When and why an entity churned. */
async function churnOf(
  { warehouse, organization, zone }: ScoreContext,
  { kind, number }: Entity,
  { explanation, stored }: ExplainedScore,
  { day, body }: Run,
) {
  const { endsAtMs } = explanation;
  const endsAt = endsAtMs === null ? null : new Date(endsAtMs).toISOString();
  if (explanation.state !== "churned") return { churnedDay: null, churnCause: null, endsAt };
  const { churnHorizonDays, churnTargets } = body.settings;
  const target = churnTargets[kind];
  const none = { event: null, trait: null, member: null, isInvoluntary: null };
  if (!stored.hasLeft) {
    const churnedDay = formatDay(cutoffBefore(day, stored.idleDays - churnHorizonDays, body.outages));
    return { churnedDay, churnCause: { ...none, by: "silence" as const }, endsAt };
  }
  const asOfThen = { id: organization.id, zone, settings: body.settings };
  const left = await departureOf(warehouse, { kind, entity: number }, asOfThen, day);
  const churnedDay = left === undefined ? null : formatDay(left.day);
  if (target.by === "trait") {
    return { churnedDay, churnCause: { ...none, by: "trait" as const, trait: target.trait }, endsAt };
  }
  if (target.by === "subscription") {
    const isInvoluntary = left?.isInvoluntary ?? null;
    return { churnedDay, churnCause: { ...none, by: "subscription" as const, isInvoluntary }, endsAt };
  }
  if (target.by !== "event") return { churnedDay, churnCause: null, endsAt };
  const { event } = target;
  const member =
    kind === "account" && left !== undefined
      ? await churnEventSender(warehouse, {
          organization: organization.id,
          account: number,
          event,
          day: left.day,
        })
      : undefined;
  return { churnedDay, churnCause: { ...none, by: "event" as const, event, member: member ?? null }, endsAt };
}

function scoresOf({ explanation, stored }: ExplainedScore, run: Run, rank: number | null) {
  const { state, health, engagement, momentum } = explanation;
  const { score, healthBand, contributions, cap, capReasons } = health;
  return {
    state,
    health: {
      score,
      healthBand,
      contributions: { ...contributions },
      cap,
      capReasons: [...capReasons],
      traits: run.body.settings.healthTraits.map(({ trait, zeroAt, hundredAt }, at) => {
        const value = stored.healthValues[at] ?? null;
        return { trait, part: partOfTrait(trait), value, zeroAt, hundredAt };
      }),
    },
    engagement:
      engagement === null
        ? null
        : {
            score: engagement.score,
            contributions: { ...engagement.contributions },
            rank,
            confidence: "confidence" in engagement ? engagement.confidence : "normal",
          },
    momentum,
    risk: riskAnswer(explanation, run),
    returnProbability: explanation.returnProbability,
  };
}

async function activityRankOf(
  context: ScoreContext,
  kind: EntityKind,
  { explanation, stored: { x, t, n } }: ExplainedScore,
  run: Run,
) {
  const order = explanation.state === "churned" ? undefined : await activityOrderOfRun(context, kind, run);
  const position = order === undefined ? null : positionIn(order, { x, t, n });
  return order === undefined || position === null ? null : { position, of: order.of };
}

function riskAnswer({ risk, reasons }: Explanation, run: Run) {
  if (risk === null || reasons === null) return null;
  return {
    probability: risk,
    riskBand: riskBandOf(risk, run.body.riskScale),
    ratioToBaseRate: ratioToBaseRate(risk, run),
    referenceRisk: reasons.referenceRisk,
    reasons: [...reasons.reasons],
  };
}

function modelOf(run: Run, kind: EntityKind) {
  const { choice, settings, trainedDay, backtest } = run.body;
  const result = servingResult(choice, backtest)?.metrics;
  return {
    model: nameOfRung(choice.rung),
    isProven: choice.isProven,
    isProvisional: choice.isProvisional,
    why: choice.why,
    lacksData: lacksData(run.body),
    leadsWithRisk: leadsWithRisk(run),
    horizonDays: settings.churnHorizonDays,
    ...churnDefinitionOf(settings, kind),
    trainedDay: formatDay(trainedDay),
    baseRate: baseRateOf(run),
    riskLimits: limitsOf(run),
    logLoss: result?.logLoss ?? null,
    auc: result?.auc ?? null,
    calibrationError: result?.ece ?? null,
  };
}

async function changeAnswer(context: ScoreContext, question: EntityQuestion, run: Run, sinceDay: number) {
  const earlier = await earlierRun(context, question.kind, run, sinceDay);
  if (earlier === undefined) return null;
  const change = await changeBetween(context.warehouse, question, earlier, run);
  return change === undefined ? null : { sinceDay: formatDay(earlier.day), ...change };
}

/** Organizations that are being scored because they asked for it. */
const inHand = new Set<number>();
const whileScoringSeconds = 10;

async function untilRested(context: OrganizationContext): Promise<void> {
  const { run } = await scoreContext(context, "user");
  const { beforeTodayMs } = defaultRests;
  const restMs = run === undefined ? 0 : run.body.finishedAtMs + beforeTodayMs - context.nowMs();
  if (run?.day === context.zone.dayOf(context.nowMs()) && restMs > 0)
    throw new ApiError("rate_limit_exceeded", errorMessages.scoredTooSoon, Math.ceil(restMs / 1_000));
}
