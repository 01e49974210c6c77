/** Handlers of the JSON API that a morning begins with: health by week, accounts at risk, and the week in
 * sentences. */

import { callListLimits } from "../../contract/call-list.ts";
import { readCallList } from "../analytics/call-list.ts";
import { firstActiveDay } from "../analytics/first-day.ts";
import { lifecycleOfSevens } from "../analytics/lifecycle.ts";
import { mrrOfPayers } from "../analytics/revenue/payers-now.ts";
import type { Part } from "../analytics/sentence.ts";
import type { ScoresOfWeek } from "../analytics/week-scores.ts";
import { weekSummary } from "../analytics/week-summary.ts";
import { dayOrNull, formatDay } from "../calendar/days.ts";
import type { AnalysisHandlers, OrganizationContext } from "../http/api/context.ts";
import { dayOfParameter, today, usersQuestion } from "../http/api/days.ts";
import { lacksData } from "../scoring/churn/ladder.ts";
import { accountsAtRisk, scoredAccounts } from "../scoring/queries/lists/accounts-at-risk.ts";
import { healthByWeek } from "../scoring/queries/lists/health-by-week.ts";
import { movementBetween } from "../scoring/queries/lists/reading.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import { controlsOf } from "./controls.ts";
import { billingOf } from "./payers.ts";
import { comparedRisk } from "./rows.ts";
import {
  activityOrderOfRun,
  baseRateOf,
  churnDefinitionOf,
  earlierRun,
  leadsWithRisk,
  type Run,
  scoreContext,
  settingsOf,
} from "./score-context.ts";
import { bothWithin, warehouseWithin } from "./segment-evaluation.ts";
import type { Within } from "./segment-within.ts";

const weekDays = 7;
/** Half a year of weeks. The newest week is compared with their changes. */
const judgedWeeks = 27;
/** Fewer for health: each week reads the scores of all users. */
const judgedHealthWeeks = 13;

export const overviewHandlers = {
  "GET /api/week-summary": async (context) => {
    const { warehouse, query } = context;
    const { segment } = query;
    const within = await bothWithin(context, segment);
    const toDay = today(context) - 1;
    const question = await usersQuestion(context, toDay);
    const weeks = await lifecycleOfSevens(within.users, { ...question, weeks: judgedWeeks });
    const { run, head } = await scoreContext(context, "user");
    const scores = run === undefined ? null : await scoresOfWeek(context, run, within);
    const stoppedSince =
      head.dataStoppedSince === null ? null : dayOfParameter("dataStoppedSince", head.dataStoppedSince);
    const isOfSegment = segment !== undefined;
    const needsFirstDay = isOfSegment || weeks.every(({ active }) => active === 0);
    const firstDay = needsFirstDay ? await firstActiveDay(warehouse, question) : null;
    const partOf = (part: Part) => partAnswer(part, segment);
    return {
      fromDay: formatDay(toDay - weekDays + 1),
      toDay: formatDay(toDay),
      ...head,
      sinceDay: dayOrNull(scores?.sinceDay ?? null),
      sentences: weekSummary({ toDay, weeks, stoppedSince, firstDay, scores, isOfSegment }).map(
        ({ parts, ...sentence }) => ({
          ...sentence,
          usual: sentence.usual === null ? null : { ...sentence.usual },
          parts: parts.map(partOf),
        }),
      ),
    };
  },

  "GET /api/health-by-week": async (context) => {
    const { organization, query } = context;
    const { kind, weeks, segment } = query;
    const warehouse = await warehouseWithin(context, segment, kind);
    const { run, head } = await scoreContext(context, kind);
    const settings = await settingsOf(context, run);
    const churn = { horizonDays: settings.churnHorizonDays, ...churnDefinitionOf(settings, kind) };
    if (run === undefined)
      return { kind, ...head, ...churn, baseRate: null, leadsWithRisk: false, weeks: [] };
    const rows = await healthByWeek(warehouse, { organization: organization.id, kind, day: run.day, weeks });
    return {
      kind,
      ...head,
      ...churn,
      baseRate: baseRateOf(run),
      leadsWithRisk: leadsWithRisk(run),
      weeks: rows.map((row) => ({
        ...row,
        day: formatDay(row.day),
        meanRisk: row.expectedChurn === null ? null : row.expectedChurn / row.withRisk,
      })),
    };
  },

  "GET /api/accounts-at-risk": async (context) => {
    const { organization, query } = context;
    const warehouse = await warehouseWithin(context, query.segment, "account");
    const since = query.since === undefined ? undefined : dayOfParameter("since", query.since);
    const { run, head } = await scoreContext(context, "account");
    const none = { total: 0, scored: 0, members: 0, payersOnly: false, accounts: [] };
    if (run === undefined) return { ...head, sinceDay: null, ...none };
    const payers = await payersOf(context, run);
    const earlier = await earlierRun(context, "account", run, since ?? run.day - weekDays);
    const ofRun = rowsOf(organization.id, "account", run);
    const {
      total,
      members: allMembers,
      accounts,
    } = await accountsAtRisk(warehouse, {
      run: ofRun,
      earlier: earlier && rowsOf(organization.id, "account", earlier),
      activityOrder: await activityOrderOfRun(context, "account", run),
      controls: [...(await controlsOf(context, "account")).keys()],
      payers,
      limit: query.limit,
    });
    return {
      ...head,
      sinceDay: earlier === undefined ? null : formatDay(earlier.day),
      total,
      scored: await scoredAccounts(warehouse, ofRun, payers),
      members: allMembers,
      payersOnly: payers !== undefined,
      accounts: accounts.map(({ entity, id, label, members, activeMembers, health, risk, change }) => {
        const figures = { id, label, mrr: payers?.get(entity) ?? null, members, activeMembers, health, risk };
        return { ...figures, ...comparedRisk(risk, run), change };
      }),
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** MRR of the accounts that pay, where there are enough of them: then no other account is at risk of being
 * lost. */
async function payersOf(
  context: OrganizationContext,
  run: Run,
): Promise<ReadonlyMap<number, number> | undefined> {
  const { payers } = await billingOf(context, "account", run);
  const mrrs = payers && (await mrrOfPayers(context.warehouse, payers));
  return mrrs !== undefined && mrrs.size >= callListLimits.leastPayers ? mrrs : undefined;
}

/** @param segment the one whose users and accounts are counted, if it is one */
function partAnswer({ list, ...part }: Part, segment: number | undefined) {
  if (list === undefined) return part;
  // Of an account all active members are counted, those who have left it among them.
  const isOfAccount = list.query.activeInAccount !== undefined;
  const filter = segment === undefined || isOfAccount ? {} : { segment: String(segment) };
  return { ...part, list: { page: list.page, query: { ...list.query, ...filter } } };
}

const calledInSentence = 3;

/** The first of the call list. */
async function calledFirst(context: OrganizationContext, within: Within): Promise<ScoresOfWeek["call"]> {
  const question = { list: "call", limit: calledInSentence, within } as const;
  const [{ rows }, accounts] = await Promise.all([
    readCallList(context, context.organization, question),
    within.accounts === undefined ? undefined : scoreContext(context, "account"),
  ]);
  return {
    hasAccounts: (accounts?.run?.body.scored ?? 0) > 0,
    first: rows.map(({ kind, id, name: label, reason }) => ({ kind, id, label, reason })),
  };
}

async function scoresOfWeek(context: OrganizationContext, run: Run, within: Within): Promise<ScoresOfWeek> {
  const { organization } = context;
  const warehouse = within.users;
  const earlier = await earlierRun(context, "user", run, run.day - weekDays);
  const now = rowsOf(organization.id, "user", run);
  const [health, movement, call] = await Promise.all([
    healthByWeek(warehouse, {
      organization: organization.id,
      kind: "user",
      day: run.day,
      weeks: judgedHealthWeeks,
    }),
    earlier === undefined ? [] : movementBetween(warehouse, now, rowsOf(organization.id, "user", earlier)),
    calledFirst(context, within),
  ]);
  const { choice, settings } = run.body;
  return {
    sinceDay: earlier?.day ?? null,
    horizonDays: settings.churnHorizonDays,
    baseRate: baseRateOf(run),
    isProven: choice.isProven,
    hasModel: choice.rung !== null,
    lacksData: lacksData(run.body),
    health,
    movement,
    call,
  };
}
