/** Handlers of the JSON API about one user or account beside its scores: days, events, members, changes of
 * the model. */

import { defaultSettings } from "../../contract/settings.ts";
import type { Controls } from "../analytics/entities/controls.ts";
import { everyDay, type Own, ownActivity } from "../analytics/entities/own-activity.ts";
import { ownEvents } from "../analytics/entities/own-events.ts";
import { dayOrNull, formatDay } from "../calendar/days.ts";
import type { AnalysisHandlers, ApiContext } from "../http/api/context.ts";
import { lastDay, today, usersQuestion } from "../http/api/days.ts";
import { nameOfRung } from "../scoring/churn/model-names.ts";
import {
  type AccountMember,
  accountMembers,
  accountMemberTotals,
} from "../scoring/queries/lists/account-members.ts";
import { scoreOf } from "../scoring/queries/lists/reading.ts";
import type { StoredScore } from "../scoring/queries/lists/stored-score.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import { modelChanges } from "../scoring/run/model-changes.ts";
import { populationOf } from "../scoring/run/population.ts";
import { newestRun } from "../scoring/run/status.ts";
import { verdictOf } from "../scoring/scores/verdict.ts";
import { knownAccount } from "./accounts.ts";
import { controlField, controlsOf } from "./controls.ts";
import { withLabels } from "./event-labels.ts";
import { comparedRisk, withSpan } from "./rows.ts";
import { type Run, riskScaleOfRun } from "./score-context.ts";
import { knownUser } from "./users.ts";

export const entitiesHandlers = {
  "GET /api/users/:userId/activity": async (context) => {
    const { user } = await knownUser(context);
    const days = await activityOf(context, { kind: "user", entity: user.number });
    return { days: days.map(({ day, events }) => ({ day, events })) };
  },

  "GET /api/users/:userId/events": async (context) => {
    const { user } = await knownUser(context);
    const events = await eventsOf(context, { kind: "user", entity: user.number });
    return { events: events.map(({ users: _, ...row }) => row) };
  },

  "GET /api/accounts/:accountId/activity": async (context) => {
    const { entity } = await knownAccount(context);
    return { days: await activityOf(context, { kind: "account", entity }) };
  },

  "GET /api/accounts/:accountId/events": async (context) => {
    const { entity } = await knownAccount(context);
    return { events: await eventsOf(context, { kind: "account", entity }) };
  },

  "GET /api/accounts/:accountId/members": async (context) => {
    const { entity: account } = await knownAccount(context);
    const { warehouse, organization, zone, query } = context;
    const latest = today(context);
    const run = await newestRun(warehouse, organization.id, "account", latest);
    const ofUsers = await newestRun(warehouse, organization.id, "user", run?.day ?? latest);
    const settings = run?.body.settings ?? {
      ...defaultSettings,
      passiveEvents: [...(await context.passiveEvents())],
    };
    const question = {
      population: {
        ...populationOf({ id: organization.id, zone, settings, outages: run?.body.outages ?? [] }, "account"),
        entity: account,
      },
      cutoffDay: run?.day ?? latest,
      scores: ofUsers === undefined ? undefined : { day: ofUsers.day, rowsVersion: ofUsers.body.rowsVersion },
      ofAccounts: run === undefined ? undefined : { day: run.day, rowsVersion: run.body.rowsVersion },
    };
    const { sort, order, limit, offset } = query;
    const [totals, members, score, controls] = await Promise.all([
      accountMemberTotals(warehouse, question),
      accountMembers(warehouse, question, { sort, descending: order === "descending", limit, offset }),
      run === undefined ? undefined : scoreOf(warehouse, rowsOf(organization.id, "account", run), account),
      controlsOf(context, "user"),
    ]);
    const { active28, active90 } = totals;
    return {
      day: formatDay(question.cutoffDay),
      ...totals,
      activeShare: active90 === 0 ? null : active28 / active90,
      activeDays28: score?.activeDays28 ?? null,
      isInUse: score === undefined ? active28 > 0 : isInUse(score),
      members: members.map((row) => memberAnswer(row, ofUsers, controls)),
    };
  },

  "GET /api/model/changes": async ({ warehouse, organization, query }) => {
    const changes = await modelChanges(warehouse, { organization: organization.id, kind: query.kind });
    return {
      changes: changes.map(({ day, from, to, why }) => ({
        day: formatDay(day),
        from: nameOfRung(from),
        to: nameOfRung(to),
        why,
      })),
    };
  },
} satisfies Partial<AnalysisHandlers>;

async function activityOf(
  context: ApiContext<"GET /api/users/:userId/activity" | "GET /api/accounts/:accountId/activity">,
  own: Own,
) {
  const toDay = lastDay(context);
  const question = { ...(await usersQuestion(context, toDay)), fromDay: toDay - context.query.days + 1 };
  const rows = await ownActivity(context.warehouse, { ...question, ...own });
  return everyDay(question, rows).map((row) => ({ ...row, day: formatDay(row.day) }));
}

async function eventsOf(
  context: ApiContext<"GET /api/users/:userId/events" | "GET /api/accounts/:accountId/events">,
  own: Own,
) {
  const { limit, kinds } = context.query;
  const asked = { organization: context.organization.id, toDay: today(context), limit, kinds };
  const rows = await ownEvents(context.warehouse, { ...asked, ...own });
  return (await withLabels(context, rows)).map(withSpan);
}

/** An account with less use says little about its members' parts in it. */
const leastActiveDays28 = 7;
const mostIdleDays = 14;

function isInUse({ state, activeDays28, idleDays }: StoredScore): boolean {
  return state !== "churned" && activeDays28 >= leastActiveDays28 && idleDays <= mostIdleDays;
}

function memberAnswer(
  { user, name, avatar, lastActiveDay, risk, isAccountChurned, ...row }: AccountMember,
  run: Run | undefined,
  controls: Controls,
) {
  return {
    ...row,
    ...controlField(controls, user),
    verdict: verdictOf({ ...row, risk, isAccountChurned }, riskScaleOfRun(run)),
    name: name === "" ? null : name,
    avatar: avatar === "" ? null : avatar,
    lastActiveDay: dayOrNull(lastActiveDay),
    risk,
    ...comparedRisk(risk, run),
  };
}
