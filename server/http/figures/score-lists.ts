/** Scores of all users or accounts: lists, movers and the summary. */

import type { RouteAnswer } from "../../../contract/api/routes.ts";
import { movementReason } from "../../analytics/analytics.ts";
import { formatDay } from "../../calendar/calendar.ts";
import {
  type ActivityOrder,
  countBands,
  countListed,
  type EntityKind,
  type ListedScore,
  listScores,
  type Mover,
  movementBetween,
  moversBetween,
  type OfRun,
  rowsOf,
} from "../../scoring/scoring.ts";
import type { AnalysisHandlers, ApiContext } from "../api/context.ts";
import { dayOfParameter } from "./days.ts";
import { comparedRisk } from "./rows.ts";
import {
  activityOrderOfRun,
  baseRateOf,
  earlierRun,
  limitsOf,
  type RunContext,
  riskScaleOfRun,
  type ScoreContext,
  scoreContext,
} from "./score-context.ts";

type ListContext = ApiContext<"GET /api/scores/users" | "GET /api/scores/accounts">;

/** Days back from the newest scores, when a question does not say since when. */
export const monthDays = 28;
const weekDays = 7;

export const scoreListsHandlers = {
  "GET /api/scores/users": (context) => listAnswer(context, "user"),

  "GET /api/scores/accounts": (context) => listAnswer(context, "account"),

  "GET /api/score-summary": async (context) => {
    const { warehouse, query } = context;
    const { kind } = query;
    const { runs, head, newest } = await bothRuns(context, kind, query.since, monthDays);
    if (runs === undefined || newest === undefined)
      return { kind, ...head, baseRate: null, riskLimits: null, counts: [], movement: [] };
    const [counts, movement] = await Promise.all([
      countBands(warehouse, runs.run, newest.body.riskScale),
      runs.earlier === undefined ? [] : movementBetween(warehouse, runs.run, runs.earlier),
    ]);
    return { kind, ...head, baseRate: baseRateOf(newest), riskLimits: limitsOf(newest), counts, movement };
  },

  "GET /api/movers": async (context) => {
    const { warehouse, query } = context;
    const { kind, state, limit } = query;
    const { runs, newest, head } = await bothRuns(context, kind, query.since, weekDays);
    const { run, earlier } = runs ?? {};
    const found =
      run === undefined || earlier === undefined
        ? []
        : await moversBetween(warehouse, { run, earlier, state, limit });
    const went = (way: Mover["direction"]) => found.filter(({ direction }) => direction === way);
    const [fell, rose, returned] = [went("fell"), went("rose"), went("returned")];
    const told = (each: Mover) => ({
      ...listed(each, newest),
      accountId: each.accountId,
      accountName: each.accountName,
      reason: movementReason({ kind, ...each }),
    });
    return {
      ...head,
      movers: [...rose, ...fell].map(told),
      returned: returned.map(told),
      totals: { fell: fell[0]?.total ?? 0, rose: rose[0]?.total ?? 0, returned: returned[0]?.total ?? 0 },
    };
  },
} satisfies Partial<AnalysisHandlers>;

async function listAnswer(
  context: ListContext,
  kind: EntityKind,
): Promise<RouteAnswer<"GET /api/scores/users">> {
  const { since, order, ...asked } = context.query;
  const { runs, newest, head } = await bothRuns(context, kind, since, monthDays);
  if (runs === undefined) return { ...head, total: 0, scores: [] };
  const { warehouse } = context;
  const riskLimits = riskScaleOfRun(newest);
  const question = { ...asked, ...runs, riskLimits, descending: order === "descending" };
  const [total, scores] = await Promise.all([
    countListed(warehouse, question),
    listScores(warehouse, question),
  ]);
  return {
    ...head,
    total,
    scores: scores.map((each) => ({
      ...listed(each, newest),
      activityPosition: each.activityPosition,
    })),
  };
}

interface BothRuns {
  /** Undefined before the first run. */
  readonly runs:
    | {
        readonly run: OfRun;
        readonly earlier: OfRun | undefined;
        readonly activityOrder: ActivityOrder | undefined;
      }
    | undefined;
  readonly newest: ScoreContext["run"];
  readonly head: ScoreContext["head"] & {
    readonly sinceDay: string | null;
    readonly rulesChanged: boolean;
  };
}

/** The newest run, and the one that its changes are told against. @throws ApiError when `since` is no date */
export async function bothRuns(
  context: RunContext,
  kind: EntityKind,
  since: string | undefined,
  defaultDays: number,
): Promise<BothRuns> {
  const asked = since === undefined ? undefined : dayOfParameter("since", since);
  const { run, head } = await scoreContext(context, kind);
  if (run === undefined) {
    return { runs: undefined, newest: run, head: { ...head, sinceDay: null, rulesChanged: false } };
  }
  const earlier = await earlierRun(context, kind, run, asked ?? run.day - defaultDays);
  const { id } = context.organization;
  return {
    runs: {
      run: rowsOf(id, kind, run),
      earlier: earlier && rowsOf(id, kind, earlier),
      activityOrder: await activityOrderOfRun(context, kind, run),
    },
    newest: run,
    head: {
      ...head,
      sinceDay: earlier === undefined ? null : formatDay(earlier.day),
      rulesChanged: earlier !== undefined && earlier.body.settingsKey !== run.body.settingsKey,
    },
  };
}

function listed(score: Omit<ListedScore, "day" | "activityPosition">, run: ScoreContext["run"]) {
  const { id, label, state, healthBand, health, risk, engagement, momentum, change } = score;
  return {
    ...{ id, label, state, healthBand, health, risk, ...comparedRisk(risk, run) },
    ...{ engagement, momentum, change },
  };
}
