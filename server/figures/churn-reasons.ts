/** The handler of churn reasons. */
import { revenueLimits } from "../../contract/billing/revenue.ts";
import { ApiError } from "../../contract/refusal.ts";
import { addedUp, departuresByReason } from "../analytics/revenue/departures-by-reason.ts";
import { formatDay } from "../calendar/days.ts";
import type { AnalysisHandlers } from "../http/api/context.ts";
import { revenueOf } from "../http/api/currency.ts";
import { lastDay } from "../http/api/days.ts";
import { churnEventsOf } from "./churn-events.ts";
import { monthsOf, revenuePeriods } from "./revenue-periods.ts";
import { warehouseWithinPayers } from "./segment-evaluation.ts";

export const churnReasonsHandlers = {
  "GET /api/churn-reasons": async (context) => {
    const { organization, zone, query, nowMs } = context;
    if (query.periods * monthsOf[query.period] > revenueLimits.months) {
      throw new ApiError(
        "validation_error",
        `periods are more than ${revenueLimits.months} months: send fewer.`,
      );
    }
    const periods = revenuePeriods(zone, nowMs(), { ...query, toDay: lastDay(context) });
    const [warehouse, { question, head }, churnEvents] = await Promise.all([
      warehouseWithinPayers(context, query.segment),
      revenueOf(context),
      churnEventsOf(context),
    ]);
    const { sums, commentTotal, comments } = await departuresByReason(warehouse, {
      ...question,
      organization: organization.id,
      churnEvents,
      edges: [...periods.flatMap(({ monthsMs }) => monthsMs), periods.at(-1)?.endMs ?? 0],
      split: query.split,
      comments: query.comments,
    });
    const indexOf = (edge: number) => periods.findLastIndex(({ monthsMs: [first = 0] }) => first <= edge);
    const order = ["all", "value", "other", "none"];
    const reasons = addedUp(sums, ({ edge }) => indexOf(edge)).toSorted(
      (a, b) =>
        order.indexOf(a.kind) - order.indexOf(b.kind) ||
        (a.value ?? "").localeCompare(b.value ?? "") ||
        indexOf(a.edge) - indexOf(b.edge) ||
        b.mrr - a.mrr ||
        (a.reason ?? "").localeCompare(b.reason ?? ""),
    );
    return {
      ...head,
      reasons: reasons.flatMap(({ edge, kind, value, ...row }) => {
        const period = periods[indexOf(edge)];
        if (period === undefined) return [];
        const { fromDay, toDay, isComplete } = period;
        return [{ kind, value, fromDay: formatDay(fromDay), toDay: formatDay(toDay), isComplete, ...row }];
      }),
      commentTotal,
      comments: comments.map(({ name, leftMs, ...said }) => ({
        ...said,
        label: name || said.id,
        day: formatDay(zone.dayOf(leftMs)),
      })),
    };
  },
} satisfies Partial<AnalysisHandlers>;
