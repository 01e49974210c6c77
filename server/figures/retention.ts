/** Handlers of the JSON API about retention cohorts, and segments of their cells. */

import type { RouteQuery } from "../../contract/api/routes.ts";
import { ApiError, Refusal } from "../../contract/refusal.ts";
import { segmentLimits } from "../../contract/segments/segments.ts";
import { retention } from "../analytics/retention/retention.ts";
import { retentionComparison } from "../analytics/retention/retention-comparison.ts";
import {
  type RetentionCellQuestion,
  retentionNumbers,
  retentionPeople,
} from "../analytics/retention/retention-people.ts";
import type { Entry, RetentionQuestion } from "../analytics/retention/retention-question.ts";
import { dayOrNull, formatDay } from "../calendar/days.ts";
import { type Period, periodsLater, startOfPeriod } from "../calendar/period-starts.ts";
import type { AnalysisHandlers, OrganizationContext } from "../http/api/context.ts";
import { dayOfParameter, lastDay, today, weekStart } from "../http/api/days.ts";
import { segmentAnswer } from "./segment-answer.ts";
import { warehouseWithin } from "./segment-evaluation.ts";

type Query = RouteQuery<"GET /api/retention">;
type CellQuery = RouteQuery<"POST /api/retention/segment">;
type Context = Pick<OrganizationContext, "organization" | "zone" | "nowMs" | "ledger" | "passiveEvents">;

export const retentionHandlers = {
  "GET /api/retention": async (context) => {
    const { cells, mean, projections } = await refused(
      retention(
        await warehouseWithin(context, context.query.segment),
        await questionOf(context, context.query),
      ),
    );
    return {
      cells: cells.map((cell) => ({ ...cell, cohortDay: formatDay(cell.cohortDay) })),
      mean: [...mean],
      projections: projections.map(({ fit, ...group }) => ({
        ...group,
        fit: fit === null ? null : { ...fit, shares: [...fit.shares] },
      })),
    };
  },

  "GET /api/retention/comparison": async (context) => {
    const { at, ...query } = context.query;
    if (at !== undefined && at >= query.periods) {
      throw invalid(`at is not valid: send a number below periods, which is ${query.periods}.`);
    }
    const question = await questionOf(context, query);
    const warehouse = await warehouseWithin(context, query.segment);
    const { groups, pairs, ...answer } = await refused(retentionComparison(warehouse, question, at));
    return { ...answer, groups: [...groups], pairs: [...pairs] };
  },

  "GET /api/retention/people": async (context) => {
    const { query } = context;
    const { people, ...answer } = await refused(
      retentionPeople(await warehouseWithin(context, query.segment), {
        ...(await cellOf(context, query)),
        limit: query.limit,
        after: query.after,
      }),
    );
    return {
      ...answer,
      people: people.map((person) => ({ ...person, lastSeenDay: dayOrNull(person.lastSeenDay) })),
    };
  },

  /** @throws Refusal when the segment cannot be saved */
  "POST /api/retention/segment": async (context) => {
    const { ledger, organization, actor, query, body, nowMs } = context;
    const { cellUsers: most } = segmentLimits;
    const question = await cellOf(context, query);
    const warehouse = await warehouseWithin(context, query.segment);
    const numbers = await refused(retentionNumbers(warehouse, question, most + 1));
    if (numbers.length === 0) throw invalid("This cell has no users, so there is nothing to save.");
    if (numbers.length > most) {
      throw invalid(`This cell has more than ${most} users: send a shorter period, or split it by a trait.`);
    }
    const wanted = { kind: "users", name: body.name.trim(), content: { numbers } } as const;
    const { segment } = await ledger.segments.add(organization.id, wanted, actor, nowMs());
    return segmentAnswer(segment, []);
  },
} satisfies Partial<AnalysisHandlers>;

/** How many periods are shown when nothing is said of the first. */
const usualPeriods = { day: 30, week: 26, month: 12 } as const;

async function questionOf(context: Context, query: Query): Promise<RetentionQuestion> {
  const { organization, zone } = context;
  const period: Period = { name: query.period, weekStart: await weekStart({ ...context, query }) };
  const toDay = lastDay({ ...context, query });
  const byDefault = () => periodsLater(startOfPeriod(toDay, period), 1 - usualPeriods[query.period], period);
  return {
    organization: organization.id,
    passiveEvents: await context.passiveEvents(),
    horizonDays: (await context.ledger.settings.get(organization.id)).settings.churnHorizonDays,
    entry: entryOf(query),
    returnEvent: query.returnEvent ?? null,
    period,
    measure: query.measure,
    countsAlreadyHere: query.alreadyHere === "counted",
    split: query.trait === undefined ? null : { trait: query.trait, of: query.of, asOf: query.asOf },
    fromDay: query.from === undefined ? byDefault() : dayOfParameter("from", query.from),
    toDay,
    periods: query.periods,
    today: today(context),
    transitions: zone.transitions,
  };
}

/** @throws ApiError when the cell's group does not fit the split */
async function cellOf(context: Context, query: CellQuery): Promise<RetentionCellQuestion> {
  if ((query.trait === undefined) !== (query.kind === "all")) {
    throw invalid(
      `kind is not valid: send ${query.trait === undefined ? "all, or a trait" : "value, other or none"}.`,
    );
  }
  if ((query.kind === "value") !== (query.value !== undefined)) {
    throw invalid("value is not valid: send it with kind=value, and only then.");
  }
  return {
    ...(await questionOf(context, query)),
    group: { kind: query.kind, value: query.value ?? null },
    cohortDay: dayOfParameter("cohort", query.cohort),
    at: query.at,
    retained: query.retained,
  };
}

function entryOf({ entry, entryEvent }: Query): Entry {
  if ((entry === "event") !== (entryEvent !== undefined)) {
    throw invalid("entryEvent is not valid: send an event's name with entry=event, and only then.");
  }
  return entry === "event" ? { kind: "event", event: entryEvent ?? "" } : { kind: entry };
}

function invalid(message: string): ApiError {
  return new ApiError("validation_error", message);
}

/** The sender has to make a question smaller that asks for too much. */
async function refused<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Refusal) throw invalid(error.message);
    throw error;
  }
}
