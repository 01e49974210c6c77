/** Handlers of the JSON API about engagement: what all users together do. */

import { maxCountedValues, maxLookedAtEvents } from "../../contract/api/figures.ts";
import { ApiError } from "../../contract/refusal.ts";
import { activeDays } from "../analytics/active-days.ts";
import { activeUsers } from "../analytics/active-users.ts";
import { adoption } from "../analytics/adoption.ts";
import { traitNames } from "../analytics/entities/trait-names.ts";
import { eventNames } from "../analytics/event-names.ts";
import { eventsByValue } from "../analytics/events-by-value.ts";
import { eventsOverTime, withEmptyPeriods } from "../analytics/events-over-time.ts";
import { lifecycle } from "../analytics/lifecycle.ts";
import { propertyNames } from "../analytics/property-names.ts";
import { advisedHorizon, gapPercentile, usageIntervals } from "../analytics/usage-intervals.ts";
import { formatDay } from "../calendar/days.ts";
import type { AnalysisHandlers } from "../http/api/context.ts";
import { lastDay, today, usersQuestion, weekStart } from "../http/api/days.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { withLabels } from "./event-labels.ts";
import { withSpan } from "./rows.ts";
import { warehouseWithin } from "./segment-evaluation.ts";
import type { SelectionContext } from "./segment-selection.ts";

export const engagementHandlers = {
  "GET /api/active-users": async (context) => {
    const question = { ...(await usersQuestion(context, lastDay(context))), days: context.query.days };
    const days = await activeUsers(await warehouseOf(context), question);
    return { days: days.map((figures) => ({ ...figures, day: formatDay(figures.day) })) };
  },

  "GET /api/active-days": async (context) => {
    const question = await usersQuestion(context, lastDay(context, today(context) - 1));
    const rows = await activeDays(await warehouseOf(context), question);
    const all = rows.reduce((sum, { users }) => sum + users, 0);
    return {
      users: all,
      activeDays: rows.map((row) => ({ ...row, share: all === 0 ? null : row.users / all })),
    };
  },

  "GET /api/lifecycle": async (context) => {
    const { segment: _, ...query } = context.query;
    const periods = await lifecycle(await warehouseOf(context), {
      ...query,
      weekStart: await weekStart(context),
      ...(await usersQuestion(context, lastDay(context))),
    });
    return { periods: periods.map(withDates) };
  },

  "GET /api/events": async (context) => {
    const { organization, query } = context;
    const { search, sort, order, limit } = query;
    const rows = await eventNames(await warehouseOf(context), {
      search,
      sort,
      limit,
      descending: order === "descending",
      organization: organization.id,
      toDay: today(context),
    });
    const events = await withLabels(context, rows);
    return {
      total: rows[0]?.total ?? 0,
      events: events.map(({ total: _, ...row }) => withSpan(row)),
    };
  },

  "GET /api/properties": async (context) => {
    const { warehouse, organization, query } = context;
    const { event, days, limit } = query;
    const toDay = lastDay(context);
    const asked = { organization: organization.id, event, fromDay: toDay - days + 1, toDay, limit };
    return { properties: await propertyNames(warehouse, { ...asked, maxEvents: maxLookedAtEvents }) };
  },

  "GET /api/events-over-time": async (context) => {
    const { organization, query } = context;
    const warehouse = await warehouseOf(context);
    const { breakdown, key, top, event, period, periods } = query;
    const toDay = lastDay(context);
    const weeks = { period, periods, weekStart: await weekStart(context) };
    const question = { organization: organization.id, event, ...weeks, toDay };
    const byValue = breakdown === "property" || breakdown === "trait";
    if (byValue !== (key !== undefined)) {
      const mend = byValue
        ? `send the ${breakdown} to split by`
        : "it goes with the breakdown property or trait";
      throw new ApiError("validation_error", `key is not valid: ${mend}.`);
    }
    const rows =
      byValue && key !== undefined
        ? await eventsByValue(warehouse, { ...question, top, by: breakdown, key })
        : await eventsOverTime(warehouse, { ...question, top: breakdown === "event" ? top : 0 });
    const isOneGroup = breakdown === "none";
    const filled = withEmptyPeriods(question, rows, isOneGroup).map(withDates);
    const isByEvent = breakdown === "event";
    const named = filled.map((row) => ({ ...row, event: (isByEvent ? row.value : null) ?? "" }));
    return { periods: (await withLabels(context, named)).map(({ event: _, ...row }) => row) };
  },

  "GET /api/adoption": async (context) => {
    const { days, limit } = context.query;
    const question = { ...(await usersQuestion(context, lastDay(context))), days, limit };
    const rows = await adoption(await warehouseOf(context), question);
    return {
      // Without events there are no active users.
      activeUsers: rows[0]?.activeUsers ?? 0,
      events: (await withLabels(context, rows)).map(({ activeUsers: _, ...row }) => row),
    };
  },

  "GET /api/usage-intervals": async (context) => {
    const question = await usersQuestion(context, lastDay(context));
    const rows = await usageIntervals(await warehouseOf(context), question);
    const gaps = rows.reduce((sum, row) => sum + row.gaps, 0);
    const percentile = (percent: number) => gapPercentile(rows, percent) ?? null;
    let seen = 0;
    return {
      gaps,
      percentiles: {
        p10: percentile(10),
        p25: percentile(25),
        p50: percentile(50),
        p75: percentile(75),
        p90: percentile(90),
        p95: percentile(95),
        p99: percentile(99),
      },
      advisedChurnHorizonDays: advisedHorizon(rows) ?? null,
      intervals: rows.map((row) => {
        seen += row.gaps;
        return { ...row, share: row.gaps / gaps, cumulativeShare: seen / gaps };
      }),
    };
  },

  "GET /api/traits": async ({ warehouse, organization, query }) => {
    const rows = await traitNames(warehouse, {
      organization: organization.id,
      kind: query.kind,
      limit: query.limit,
      maxValues: maxCountedValues,
    });
    return {
      traits: rows.map(({ trait, users, distinctValues, values }) => ({
        trait,
        users,
        distinctValues: distinctValues > maxCountedValues ? null : distinctValues,
        values: values.map(([value, having]) => ({ value, users: having })),
      })),
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** The users of the segment that the question names, or all. */
function warehouseOf(
  context: SelectionContext & { readonly query: { readonly segment?: number } },
): Promise<Warehouse> {
  return warehouseWithin(context, context.query.segment);
}

function withDates<Row extends { readonly fromDay: number; readonly toDay: number }>(row: Row) {
  return { ...row, fromDay: formatDay(row.fromDay), toDay: formatDay(row.toDay) };
}
