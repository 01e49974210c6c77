/** Scores of all users or accounts: lists, movers and the summary. */

import type { RouteAnswer } from "../../contract/api/routes.ts";
import type { Controls } from "../analytics/entities/controls.ts";
import { movementReason } from "../analytics/move-words.ts";
import type { AnalysisHandlers, ApiContext } from "../http/api/context.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { type Mover, moversBetween } from "../scoring/queries/lists/movers.ts";
import {
  countBands,
  countListed,
  type ListedScore,
  listScores,
  monthDays,
  movementBetween,
} from "../scoring/queries/lists/reading.ts";
import { controlField, controlsOf } from "./controls.ts";
import { comparedRisk } from "./rows.ts";
import { baseRateOf, bothRuns, limitsOf, riskScaleOfRun, type ScoreContext } from "./score-context.ts";
import { warehouseWithin } from "./segment-evaluation.ts";

type ListContext = ApiContext<"GET /api/scores/users" | "GET /api/scores/accounts">;

/** Of movers: days back from the newest scores, when a question does not say since when. */
const weekDays = 7;

export const scoreListsHandlers = {
  "GET /api/scores/users": (context) => listAnswer(context, "user"),

  "GET /api/scores/accounts": (context) => listAnswer(context, "account"),

  "GET /api/score-summary": async (context) => {
    const { query } = context;
    const { kind, segment } = query;
    const warehouse = await warehouseWithin(context, segment, kind);
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
    const { query } = context;
    const { kind, state, limit, segment } = query;
    const warehouse = await warehouseWithin(context, segment, kind);
    const { runs, newest, head } = await bothRuns(context, kind, query.since, weekDays);
    const { run, earlier } = runs ?? {};
    const [found, controls] = await Promise.all([
      run === undefined || earlier === undefined
        ? []
        : moversBetween(warehouse, { run, earlier, state, limit }),
      controlsOf(context, kind),
    ]);
    const went = (way: Mover["direction"]) => found.filter(({ direction }) => direction === way);
    const [fell, rose, returned] = [went("fell"), went("rose"), went("returned")];
    const told = (each: Mover) => ({
      ...listed(each, newest, controls),
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
  const { since, order, segment, ...asked } = context.query;
  const warehouse = await warehouseWithin(context, segment, kind);
  const { runs, newest, head } = await bothRuns(context, kind, since, monthDays);
  if (runs === undefined) return { ...head, total: 0, scores: [] };
  const riskLimits = riskScaleOfRun(newest);
  const question = { ...asked, ...runs, riskLimits, descending: order === "descending" };
  const [total, scores, controls] = await Promise.all([
    countListed(warehouse, question),
    listScores(warehouse, question),
    controlsOf(context, kind),
  ]);
  return {
    ...head,
    total,
    scores: scores.map((each) => ({
      ...listed(each, newest, controls),
      activityPosition: each.activityPosition,
    })),
  };
}

function listed(
  score: Omit<ListedScore, "day" | "activityPosition">,
  run: ScoreContext["run"],
  controls: Controls,
) {
  const { entity, id, label, state, healthBand, health, risk, engagement, momentum, change } = score;
  return {
    id,
    label,
    ...controlField(controls, entity),
    state,
    healthBand,
    health,
    risk,
    ...comparedRisk(risk, run),
    engagement,
    momentum,
    change,
  };
}
