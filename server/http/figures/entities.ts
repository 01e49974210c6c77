/** Handlers of the JSON API about one user or account beside its scores: days, events, members, changes of the model. */
import type { Static } from "typebox";
import type {
  AccountActivityAnswer,
  AccountEventsAnswer,
  AccountMembersAnswer,
  AccountMembersParameters,
  ActivityParameters,
  ModelChangesAnswer,
  ModelChangesParameters,
  OwnEventsParameters,
  UserActivityAnswer,
  UserEventsAnswer,
} from "../../../contract/api/entities.ts";
import { defaultSettings } from "../../../contract/settings.ts";
import {
  accountActivity,
  accountEvents,
  everyDay,
  userActivity,
  userEvents,
} from "../../analytics/analytics.ts";
import { formatDay } from "../../calendar/calendar.ts";
import type { StoredScore } from "../../scoring/scoring.ts";
import {
  type AccountMember,
  accountMembers,
  accountMemberTotals,
  modelChanges,
  nameOfRung,
  newestRun,
  populationOf,
  riskBandOf,
  rowsOf,
  scoreOf,
  verdictOf,
} from "../../scoring/scoring.ts";
import { lastDay, today } from "../api/days.ts";
import type { ApiContext } from "../api/route.ts";
import { dayOrNull } from "../api/rows.ts";
import { knownAccount } from "./accounts.ts";
import { withLabels } from "./event-labels.ts";
import { knownUser } from "./users.ts";

/** GET /api/users/:userId/activity */
export async function activityOfUser(
  context: ApiContext<typeof ActivityParameters, "/:userId">,
): Promise<Static<typeof UserActivityAnswer>> {
  const { user } = await knownUser(context);
  const days = daysOf(context);
  const rows = await userActivity(context.warehouse, {
    ...days,
    passiveEvents: await context.passiveEvents(),
    organization: user.organization,
    user: user.number,
  });
  return { days: everyDay(days, rows).map(({ day, events }) => ({ day: formatDay(day), events })) };
}

/** GET /api/accounts/:accountId/activity */
export async function activityOfAccount(
  context: ApiContext<typeof ActivityParameters, "/:accountId">,
): Promise<Static<typeof AccountActivityAnswer>> {
  const { account } = await knownAccount(context);
  const days = daysOf(context);
  const passiveEvents = await context.passiveEvents();
  const question = { ...days, organization: context.organization.id, account, passiveEvents };
  const rows = await accountActivity(context.warehouse, question);
  return { days: everyDay(days, rows).map((row) => ({ ...row, day: formatDay(row.day) })) };
}

function daysOf(context: ApiContext<typeof ActivityParameters, "">) {
  const toDay = lastDay(context);
  return { fromDay: toDay - context.query.days + 1, toDay };
}

/** GET /api/users/:userId/events */
export async function eventsOfUser(
  context: ApiContext<typeof OwnEventsParameters, "/:userId">,
): Promise<Static<typeof UserEventsAnswer>> {
  const { user } = await knownUser(context);
  const { limit } = context.query;
  const question = { organization: user.organization, user: user.number, toDay: today(context), limit };
  const rows = await userEvents(context.warehouse, question);
  const events = await withLabels(context, rows);
  return { events: events.map(({ users: _, ...row }) => withDates(row)) };
}

/** GET /api/accounts/:accountId/events */
export async function eventsOfAccount(
  context: ApiContext<typeof OwnEventsParameters, "/:accountId">,
): Promise<Static<typeof AccountEventsAnswer>> {
  const { account } = await knownAccount(context);
  const { limit } = context.query;
  const question = { organization: context.organization.id, account, toDay: today(context), limit };
  const rows = await accountEvents(context.warehouse, question);
  return { events: (await withLabels(context, rows)).map(withDates) };
}

function withDates<Row extends { readonly firstDay: number; readonly lastDay: number }>(row: Row) {
  return { ...row, firstDay: formatDay(row.firstDay), lastDay: formatDay(row.lastDay) };
}

/** GET /api/accounts/:accountId/members */
export async function membersOfAccount(
  context: ApiContext<typeof AccountMembersParameters, "/:accountId">,
): Promise<Static<typeof AccountMembersAnswer>> {
  const { account } = await knownAccount(context);
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
      ...populationOf({ id: organization.id, zone, settings }, "account"),
      entity: account,
    },
    cutoffDay: run?.day ?? latest,
    scores: ofUsers === undefined ? undefined : { day: ofUsers.day, rowsVersion: ofUsers.body.rowsVersion },
    ofAccounts: run === undefined ? undefined : { day: run.day, rowsVersion: run.body.rowsVersion },
  };
  const { sort, order, limit, offset } = query;
  const [totals, members, score] = await Promise.all([
    accountMemberTotals(warehouse, question),
    accountMembers(warehouse, question, { sort, descending: order === "descending", limit, offset }),
    run === undefined ? undefined : scoreOf(warehouse, rowsOf(organization.id, "account", run), account),
  ]);
  const { active28, active90 } = totals;
  return {
    day: formatDay(question.cutoffDay),
    ...totals,
    activeShare: active90 === 0 ? null : active28 / active90,
    activeDays28: score?.activeDays28 ?? null,
    isInUse: score === undefined ? active28 > 0 : isInUse(score),
    members: members.map(memberAnswer),
  };
}

/** An account with less use says little about its members' parts in it. */
const leastActiveDays28 = 7;
const mostIdleDays = 14;

function isInUse({ state, activeDays28, idleDays }: StoredScore): boolean {
  return state !== "churned" && activeDays28 >= leastActiveDays28 && idleDays <= mostIdleDays;
}

function memberAnswer({ name, avatar, lastActiveDay, risk, isAccountChurned, ...row }: AccountMember) {
  return {
    ...row,
    verdict: verdictOf({ ...row, risk, isAccountChurned }),
    name: name === "" ? null : name,
    avatar: avatar === "" ? null : avatar,
    lastActiveDay: dayOrNull(lastActiveDay),
    risk,
    riskBand: risk === null ? null : riskBandOf(risk),
  };
}

/** GET /api/model/changes */
export async function changesOfModel({
  warehouse,
  organization,
  query,
}: ApiContext<typeof ModelChangesParameters, "">): Promise<Static<typeof ModelChangesAnswer>> {
  const changes = await modelChanges(warehouse, { organization: organization.id, kind: query.kind });
  return {
    changes: changes.map(({ day, from, to, why }) => ({
      ...{ day: formatDay(day), from: nameOfRung(from), to: nameOfRung(to), why },
    })),
  };
}
