/** Renewals as the API answers them: by month, and the payers of a month. */
import type { RouteQuery } from "../../contract/api/routes.ts";
import { renewalLimits } from "../../contract/billing/renewals.ts";
import { ApiError } from "../../contract/refusal.ts";
import { calledEntities } from "../analytics/call-facts.ts";
import { callReasons } from "../analytics/call-list.ts";
import { renewingPayers } from "../analytics/revenue/renewal-payers.ts";
import type { RenewalMonth, RenewalsQuestion } from "../analytics/revenue/renewal-rows.ts";
import { renewalsOfMonths } from "../analytics/revenue/renewals.ts";
import { formatDay } from "../calendar/days.ts";
import {
  type Period,
  periodStarts,
  periodsBetween,
  periodsLater,
  startOfPeriod,
} from "../calendar/period-starts.ts";
import type { AnalysisHandlers, OrganizationContext } from "../http/api/context.ts";
import { revenueOf } from "../http/api/currency.ts";
import { dayOfParameter, today } from "../http/api/days.ts";
import { type Owners, ownerIn } from "../ledger/rules/owners.ts";
import { recordsOf } from "../scoring/run/records.ts";
import { newestRun } from "../scoring/run/status.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { ownerFilterOf, ownersOfOrganization } from "./owners.ts";
import { calibrationOf, lossUntilMs, type Run, type ScoreContext, scoreContext } from "./score-context.ts";
import { warehouseWithinPayers } from "./segment-evaluation.ts";

type Query = RouteQuery<"GET /api/renewals"> | RouteQuery<"GET /api/renewals/payers">;
type Phase = "past" | "current" | "coming";

const calendar: Period = { name: "month", weekStart: 1 };
/** On the start of a month that was not scored, scores of at most so many days before stand in. */
const oldestScoreDays = 6;

export const renewalsHandlers = {
  "GET /api/renewals": async (context) => {
    const { query } = context;
    const ground = await groundOf(context, query);
    const months = monthsAround(context, query.coming);
    const { compared: neededMonths } = renewalLimits;
    const none = {
      isForecast: false,
      comparedMonths: 0,
      neededMonths,
      undatedPayers: 0,
      undatedMrr: 0,
      months: [],
    };
    if (!ground.head.hasSubscriptions) return { ...ground.head, ...none };
    const runs = await runsOf(context, query.kind, months, ground.scores);
    const found = await renewalsOfMonths(
      ground.warehouse,
      { ...ground.question, months: months.map((month, index) => readMonth(month, query.kind, runs[index])) },
      runs.map((run) => (run === undefined ? null : calibrationOf(run.body))),
    );
    const answers = months.map((month, index) => monthAnswer(month, found[index], runs[index], query.kind));
    const comparedMonths = answers.filter(({ isCompared }) => isCompared).length;
    return {
      ...ground.head,
      isForecast: comparedMonths >= neededMonths,
      comparedMonths,
      neededMonths,
      undatedPayers: found.reduce((sum, { undatedPayers }) => sum + undatedPayers, 0),
      undatedMrr: found.reduce((sum, { undatedMrr }) => sum + undatedMrr, 0),
      months: answers,
    };
  },

  "GET /api/renewals/payers": async (context) => {
    const { organization, query } = context;
    const { kind, limit, offset } = query;
    const month = monthOf(context, query.month);
    const ground = await groundOf(context, query);
    const about = { month: formatDay(month.fromDay), phase: month.phase, asOf: formatDay(month.asOfDay) };
    if (!ground.head.hasSubscriptions) return { ...ground.head, ...about, total: 0, payers: [] };
    const isOver = month.phase === "past";
    const [run] = isOver ? await runsOf(context, kind, [month], ground.scores) : [ground.scores.run];
    const { total, payers } = await renewingPayers(ground.warehouse, {
      ...ground.question,
      month: readMonth(month, kind, run),
      limit,
      offset,
    });
    const entities = payers.map(({ entity }) => entity);
    const [named, reasons] = await Promise.all([
      calledEntities(context.warehouse, { organization: organization.id, kind }, entities),
      isOver ? new Map<number, string>() : callReasons(context, organization, kind, entities),
    ]);
    return {
      ...ground.head,
      ...about,
      total,
      payers: payers.flatMap(({ entity, day, byAttribute, risk, lostBy, plan, priceInterval, ...mrr }) => {
        const called = named.get(entity);
        // Erased meanwhile.
        if (called === undefined) return [];
        const owner = ownerIn(ground.owners, called.owner) ?? ownerIn(ground.owners, called.accountOwner);
        return [
          {
            id: called.id,
            name: called.name,
            renewsOn: formatDay(day),
            isByAttribute: byAttribute,
            mrr: mrr.due,
            scheduledMrr: mrr.scheduled,
            plan: plan === "" ? null : plan,
            interval: priceInterval === "" ? null : priceInterval,
            owner: owner?.name ?? null,
            ownerId: owner?.id ?? null,
            churnRisk: risk,
            renewalChance: lostBy === null || mrr.due === 0 ? null : 1 - lostBy,
            ...outcomeOf(month, { renewedMrr: mrr.renewed, lostMrr: mrr.lost, openMrr: mrr.open }),
            reason: reasons.get(entity) ?? null,
          },
        ];
      }),
    };
  },
} satisfies Partial<AnalysisHandlers>;

interface AskedMonth extends Omit<RenewalMonth, "risks"> {
  readonly phase: Phase;
}

/** A calendar month, by its first day. */
function askedMonth({ zone, nowMs }: OrganizationContext, fromDay: number): AskedMonth {
  const day = zone.dayOf(nowMs());
  const current = startOfPeriod(day, calendar);
  const fromMs = zone.startOfDay(fromDay);
  const untilDay = periodsLater(fromDay, 1, calendar);
  if (fromDay > current) {
    const hasUndated = fromDay === periodsLater(current, 1, calendar);
    return { phase: "coming", fromDay, untilDay, fromMs, asOfDay: day, asOfMs: nowMs(), hasUndated };
  }
  const phase = fromDay === current ? "current" : "past";
  return { phase, fromDay, untilDay, fromMs, asOfDay: fromDay, asOfMs: fromMs, hasUndated: false };
}

function monthsAround(context: OrganizationContext, coming: number): readonly AskedMonth[] {
  const last = periodsLater(startOfPeriod(today(context), calendar), coming, calendar);
  const periods = renewalLimits.past + 1 + coming;
  return periodStarts({ period: "month", periods, toDay: last, weekStart: 1 })
    .slice(0, periods)
    .map((fromDay) => askedMonth(context, fromDay));
}

/** @throws ApiError when it is too far from the current month */
function monthOf(context: OrganizationContext, text: string | undefined): AskedMonth {
  const current = startOfPeriod(today(context), calendar);
  const fromDay = text === undefined ? current : startOfPeriod(dayOfParameter("month", text), calendar);
  const distance = periodsBetween(current, fromDay, calendar);
  if (distance < -renewalLimits.past || distance > renewalLimits.coming) {
    const first = formatDay(periodsLater(current, -renewalLimits.past, calendar));
    const last = formatDay(periodsLater(current, renewalLimits.coming + 1, calendar) - 1);
    throw new ApiError("validation_error", `month is not valid: send a date from ${first} to ${last}.`);
  }
  return { ...askedMonth(context, fromDay), hasUndated: false };
}

interface Ground {
  readonly warehouse: Warehouse;
  readonly owners: Owners;
  readonly scores: ScoreContext;
  readonly question: Omit<RenewalsQuestion, "months">;
  readonly head: Awaited<ReturnType<typeof revenueOf>>["head"] &
    ScoreContext["head"] & {
      readonly churnTarget: Run["body"]["settings"]["churnTargets"]["account"] | null;
      readonly horizonDays: number | null;
    };
}

async function groundOf(context: OrganizationContext, query: Query): Promise<Ground> {
  const { zone, nowMs } = context;
  const { kind, interval, plan } = query;
  const [{ question, head }, scores, owners, warehouse] = await Promise.all([
    revenueOf(context),
    scoreContext(context, kind),
    ownersOfOrganization(context),
    warehouseWithinPayers(context, query.segment),
  ]);
  const settings = scores.run?.body.settings;
  return {
    warehouse,
    owners,
    scores,
    question: {
      ...question,
      ...ownerFilterOf(context, owners, query.owner),
      kind,
      interval,
      plan,
      nowMs: nowMs(),
      transitions: zone.transitions,
    },
    head: {
      ...head,
      ...scores.head,
      churnTarget: settings?.churnTargets[kind] ?? null,
      horizonDays: settings?.churnHorizonDays ?? null,
    },
  };
}

/** The run behind each month: of its start, as stored then, or the newest for coming months. Days before the
 * last 90 are kept for the first of each month; where it was not scored, the month has no risks. */
async function runsOf(
  { warehouse, organization }: OrganizationContext,
  kind: Query["kind"],
  months: readonly AskedMonth[],
  { run: newest }: ScoreContext,
): Promise<readonly (Run | undefined)[]> {
  const starts = months.flatMap(({ phase, fromDay }) => (phase === "coming" ? [] : [fromDay]));
  const of = { organization: organization.id, kind };
  const stored = await recordsOf(warehouse, { ...of, what: "run" }, starts);
  const current = months.find(({ phase }) => phase === "current");
  const before =
    current === undefined || stored.has(current.fromDay)
      ? undefined
      : await newestRun(warehouse, organization.id, kind, current.fromDay);
  const isRecent =
    before !== undefined && current !== undefined && before.day >= current.fromDay - oldestScoreDays;
  return months.map(({ phase, fromDay }) => {
    if (phase === "coming") return newest;
    return stored.get(fromDay) ?? (phase === "current" && isRecent ? before : undefined);
  });
}

/** Whether a run's churn risks are those of losing the subscription, and a model serves. */
function hasRisks(run: Run | undefined, kind: Query["kind"]): run is Run {
  return run !== undefined && run.body.model !== null && lossUntilMs(run, kind, 0) !== null;
}

function readMonth(
  { phase: _, ...month }: AskedMonth,
  kind: Query["kind"],
  run: Run | undefined,
): RenewalMonth {
  if (!hasRisks(run, kind)) return { ...month, risks: null };
  const { rowsVersion, settings } = run.body;
  return { ...month, risks: { day: run.day, rowsVersion, horizonDays: settings.churnHorizonDays } };
}

interface Outcome {
  readonly renewedMrr: number;
  readonly lostMrr: number;
  readonly openMrr: number;
}

/** What came of a month that has begun. */
function outcomeOf({ phase }: AskedMonth, { renewedMrr, lostMrr, openMrr }: Outcome) {
  return phase === "coming"
    ? { renewedMrr: null, lostMrr: null, openMrr: null }
    : { renewedMrr, lostMrr, openMrr };
}

function monthAnswer(
  month: AskedMonth,
  found: Awaited<ReturnType<typeof renewalsOfMonths>>[number] | undefined,
  run: Run | undefined,
  kind: Query["kind"],
) {
  if (found === undefined) throw new TypeError("A month was not read.");
  const { expected } = found;
  return {
    month: formatDay(month.fromDay),
    phase: month.phase,
    asOf: formatDay(month.asOfDay),
    scoredDay: hasRisks(run, kind) ? formatDay(run.day) : null,
    duePayers: found.duePayers,
    dueMrr: found.dueMrr,
    expectedMrr: expected?.expected ?? null,
    low: expected?.interval.low ?? null,
    high: expected?.interval.high ?? null,
    withoutRiskPayers: found.withoutRiskPayers,
    withoutRiskMrr: found.withoutRiskMrr,
    scheduledPayers: found.scheduledPayers,
    scheduledMrr: found.scheduledMrr,
    ...outcomeOf(month, found),
    renewedWithRiskMrr: month.phase === "coming" ? null : found.renewedWithRiskMrr,
    isCompared: month.phase === "past" && found.isSettled,
  };
}
