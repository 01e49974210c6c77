/** Handlers of the JSON API about revenue. */

import type { RouteQuery } from "../../contract/api/routes.ts";
import { revenueLimits } from "../../contract/billing/revenue.ts";
import { callListLimits } from "../../contract/call-list.ts";
import { ApiError } from "../../contract/refusal.ts";
import { unconfirmedSubscriptions, unpricedSubscriptions } from "../analytics/revenue/currencies.ts";
import { noticedSubscriptions } from "../analytics/revenue/noticed.ts";
import type { RevenueSplit } from "../analytics/revenue/payer-groups.ts";
import { type PeriodRevenue, revenue } from "../analytics/revenue/revenue.ts";
import { mrrAtRisk } from "../analytics/revenue/revenue-at-risk.ts";
import { revenueCohorts } from "../analytics/revenue/revenue-cohorts.ts";
import { unratedMrr } from "../analytics/revenue/unrated-mrr.ts";
import { formatDay } from "../calendar/days.ts";
import { msPerDay } from "../calendar/zone.ts";
import type { AnalysisHandlers } from "../http/api/context.ts";
import { revenueOf } from "../http/api/currency.ts";
import { lastDay } from "../http/api/days.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import type { RunBody } from "../scoring/run/record-bodies.ts";
import { controlsOf } from "./controls.ts";
import { type CalendarPeriod, monthsOf, revenuePeriods } from "./revenue-periods.ts";
import { calibrationOf, lossUntilMs, riskScaleOfRun, scoreContext } from "./score-context.ts";
import { warehouseWithinPayers } from "./segment-evaluation.ts";

type Query = Pick<RouteQuery<"GET /api/revenue">, "split" | "trait">;

export const revenueHandlers = {
  "GET /api/revenue": async (context) => {
    const { organization, zone, query, nowMs } = context;
    if (query.periods * monthsOf[query.period] > revenueLimits.months) {
      throw invalid(`periods are more than ${revenueLimits.months} months: send fewer.`);
    }
    const split = splitOf(query);
    const periods = revenuePeriods(zone, nowMs(), { ...query, toDay: lastDay(context) });
    const warehouse = await warehouseWithinPayers(context, query.segment);
    const [{ question, head, rates }, unconfirmed, unpriced, noticed] = await Promise.all([
      revenueOf(context),
      unconfirmedSubscriptions(warehouse, organization.id, nowMs()),
      unpricedSubscriptions(warehouse, organization.id, nowMs()),
      noticedSubscriptions(warehouse, organization.id, nowMs()),
    ]);
    const ends = periods.slice(-1).map(({ endMs }) => endMs);
    const groups = await revenue(warehouse, question, periods, split);
    const unrated = await unratedMrr(warehouse, question, ends);
    return {
      ...head,
      rates,
      periods: groups.flatMap(({ kind, value, periods: figures }) =>
        figures.flatMap((figure, index) => {
          const period = periods[index];
          return period === undefined ? [] : [{ kind, value, ...daysOf(period), ...periodAnswer(figure) }];
        }),
      ),
      unrated: unrated.map(({ currency, payers, mrrs }) => ({ currency, payers, mrr: mrrs.at(-1) ?? 0 })),
      unconfirmed,
      unpriced,
      ...noticed,
    };
  },

  "GET /api/revenue/cohorts": async (context) => {
    const { zone, query, nowMs } = context;
    if (query.split !== "none" && query.periods > revenueLimits.splitCohorts) {
      throw invalid(`periods are more than ${revenueLimits.splitCohorts}, with a split: send fewer.`);
    }
    const split = splitOf(query);
    const periods = revenuePeriods(zone, nowMs(), { ...query, toDay: lastDay(context) });
    const { question, head } = await revenueOf(context);
    const warehouse = await warehouseWithinPayers(context, query.segment);
    const edges = [...periods.flatMap(({ monthsMs: [first = 0] }) => [first]), periods.at(-1)?.endMs ?? 0];
    const cohorts = await revenueCohorts(warehouse, question, edges, split);
    return {
      ...head,
      cells: cohorts.flatMap(({ cohort, cells, kind, value, payers, entryMrr }) =>
        cells.map(({ mrr, ratio, interval }, period) => ({
          kind,
          value,
          cohortDay: formatDay(periods[cohort]?.fromDay ?? 0),
          payers,
          entryMrr,
          period,
          mrr,
          ratio,
          low: interval?.low ?? null,
          high: interval?.high ?? null,
          isComplete: periods[cohort + period]?.isComplete === true,
        })),
      ),
    };
  },

  "GET /api/revenue/at-risk": async (context) => {
    const { organization, zone, query, nowMs } = context;
    const { segment, ...asked } = query;
    const [{ question, head }, scores, warehouse, controls] = await Promise.all([
      revenueOf(context),
      scoreContext(context, query.kind),
      warehouseWithinPayers(context, segment),
      controlsOf(context, query.kind),
    ]);
    const { run } = scores;
    const target = run?.body.settings.churnTargets[query.kind] ?? null;
    const horizonDays = run?.body.settings.churnHorizonDays ?? null;
    const untilMs = lossUntilMs(run, query.kind, nowMs());
    const laterMs = nowMs() + callListLimits.endDays * msPerDay;
    const { rows, withoutRisk, ...sums } = await mrrAtRisk(warehouse, {
      ...question,
      ...asked,
      nowMs: nowMs(),
      highRisk: riskScaleOfRun(run).high,
      controls: [...controls.keys()],
      scored: run && {
        run: rowsOf(organization.id, query.kind, run),
        atMs: zone.startOfDay(run.day),
        hasModel: run.body.model !== null,
      },
      loss: run && untilMs !== null ? { untilMs, laterMs, calibration: calibrationOf(run.body) } : null,
    });
    return {
      ...head,
      ...scores.head,
      churnTarget: target,
      horizonDays,
      baseRate: baseRateOf(run?.body.observedBaseRate),
      ...sums,
      withoutRisk: withoutRisk.map((each) => ({ ...each })),
      atRisk: rows.map(({ risk, scheduled, ...payer }) => ({
        ...payer,
        churnRisk: risk,
        scheduledMrr: scheduled,
      })),
    };
  },
} satisfies Partial<AnalysisHandlers>;

function baseRateOf(observed: RunBody["observedBaseRate"]) {
  return observed ? { rate: observed.rate, low: observed.low, high: observed.high } : null;
}

/** @throws ApiError when the attribute is missing, or there without its split */
function splitOf({ split, trait }: Query): RevenueSplit | null {
  if ((split === "trait") !== (trait !== undefined)) {
    throw invalid("trait is not valid: send an attribute's name with split=trait, and only then.");
  }
  if (split === "none") return null;
  return split === "plan" ? { by: "plan" } : { by: "trait", trait: trait ?? "" };
}

function daysOf({ fromDay, toDay, isComplete }: CalendarPeriod) {
  return { fromDay: formatDay(fromDay), toDay: formatDay(toDay), isComplete };
}

function periodAnswer({ movements, retention, endPayers }: PeriodRevenue) {
  const { startMrr, endMrr, expansion, contraction, churned, reactivated } = movements;
  const { transferredIn, transferredOut } = movements;
  return {
    startMrr,
    startPayers: retention.payers,
    newMrr: movements.new.mrr,
    newPayers: movements.new.payers,
    reactivatedMrr: reactivated.mrr,
    reactivatedPayers: reactivated.payers,
    expansionMrr: expansion.mrr,
    expansionPayers: expansion.payers,
    transferredInMrr: transferredIn.mrr,
    transferredInPayers: transferredIn.payers,
    contractionMrr: contraction.mrr,
    contractionPayers: contraction.payers,
    churnedMrr: churned.mrr,
    churnedPayers: churned.payers,
    transferredOutMrr: transferredOut.mrr,
    transferredOutPayers: transferredOut.payers,
    churnedInvoluntarilyMrr: movements.churnedInvoluntarily.mrr,
    churnedInvoluntarilyPayers: movements.churnedInvoluntarily.payers,
    endMrr,
    endPayers,
    nrr: retention.nrr,
    grr: retention.grr,
    logoChurn: retention.churn,
    voluntaryLogoChurn: retention.voluntaryChurn,
    involuntaryLogoChurn: retention.involuntaryChurn,
  };
}

function invalid(message: string): ApiError {
  return new ApiError("validation_error", message);
}
