/** Handlers of the JSON API that a morning begins with: health by week, accounts at risk, and the week in sentences. */
import type Type from "typebox";
import type { Static } from "typebox";
import type { NoParameters } from "../../contract/api.ts";
import type {
  AccountsAtRiskAnswer,
  AccountsAtRiskParameters,
  HealthByWeekAnswer,
  HealthByWeekParameters,
  WeekSummaryAnswer,
} from "../../contract/api-overview.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { lifecycleOfSevens } from "../analytics/lifecycle.ts";
import { callNote, type ScoresOfWeek, type ToCall, type ToCallFirst } from "../analytics/week-scores.ts";
import { weekSummary } from "../analytics/week-summary.ts";
import { formatDay } from "../calendar/days.ts";
import { bandOf } from "../scoring/explain.ts";
import { accountsAtRisk, scoredAccounts } from "../scoring/queries/accounts-at-risk.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { healthByWeek } from "../scoring/queries/health-by-week.ts";
import { countListed, type ListQuestion, listScores, movementBetween } from "../scoring/queries/reading.ts";
import { explainedScore, rowsOf } from "../scoring/run/entity.ts";
import type { RunBody, ScoreRecord } from "../scoring/run/records.ts";
import type { ApiContext } from "./api.ts";
import { today } from "./api-days.ts";
import { baseRateOf, dayOfParameter, earlierRun, scoreContext } from "./api-score-context.ts";

type Run = ScoreRecord<RunBody>;
type Context = Omit<ApiContext<Type.TObject, "">, "query">;

const weekDays = 7;
/** Half a year of weeks, by whose changes the newest is judged. */
const judgedWeeks = 27;
/** Of health fewer: every week of it reads the scores of everybody. */
const judgedHealthWeeks = 13;
const called = 3;

/** GET /api/health-by-week */
export async function healthOfWeeks(
  context: ApiContext<typeof HealthByWeekParameters, "">,
): Promise<Static<typeof HealthByWeekAnswer>> {
  const { warehouse, organization, query } = context;
  const { kind, weeks } = query;
  const { run, head } = await scoreContext(context, kind);
  const { churnHorizonDays: horizonDays } = run?.body.settings ?? defaultSettings;
  if (run === undefined) return { kind, ...head, horizonDays, baseRate: null, weeks: [] };
  const rows = await healthByWeek(warehouse, { organization: organization.id, kind, day: run.day, weeks });
  return {
    ...{ kind, ...head, horizonDays, baseRate: baseRateOf(run) },
    weeks: rows.map((row) => ({
      ...row,
      day: formatDay(row.day),
      meanRisk: row.expectedChurn === null ? null : row.expectedChurn / row.withRisk,
    })),
  };
}

/** GET /api/accounts-at-risk */
export async function largestAccountsAtRisk(
  context: ApiContext<typeof AccountsAtRiskParameters, "">,
): Promise<Static<typeof AccountsAtRiskAnswer>> {
  const { organization, query } = context;
  const since = query.since === undefined ? undefined : dayOfParameter("since", query.since);
  const { run, head } = await scoreContext(context, "account");
  if (run === undefined) return { ...head, sinceDay: null, total: 0, scored: 0, members: 0, accounts: [] };
  const earlier = await earlierRun(context, "account", run, since ?? run.day - weekDays);
  const ofRun = rowsOf(organization.id, "account", run);
  const rows = await accountsAtRisk(context.warehouse, {
    run: ofRun,
    earlier: earlier && rowsOf(organization.id, "account", earlier),
    limit: query.limit,
  });
  return {
    ...head,
    sinceDay: earlier === undefined ? null : formatDay(earlier.day),
    total: rows[0]?.total ?? 0,
    scored: await scoredAccounts(context.warehouse, ofRun),
    members: rows[0]?.allMembers ?? 0,
    accounts: rows.map(({ id, label, members, activeMembers, health, risk, change }) => {
      return { id, label, members, activeMembers, health, risk, band: bandOfRisk(risk), change };
    }),
  };
}

/** GET /api/week-summary */
export async function weekInSentences(
  context: ApiContext<typeof NoParameters, "">,
): Promise<Static<typeof WeekSummaryAnswer>> {
  const { warehouse, organization } = context;
  const toDay = today(context) - 1;
  const weeks = await lifecycleOfSevens(warehouse, {
    organization: organization.id,
    passiveEvents: await context.passiveEvents(),
    toDay,
    weeks: judgedWeeks,
  });
  const { run, head } = await scoreContext(context, "user");
  const scores = run === undefined ? null : await scoresOfWeek(context, run);
  const stoppedSince =
    head.dataStoppedSince === null ? null : dayOfParameter("dataStoppedSince", head.dataStoppedSince);
  const call = scores?.call;
  return {
    ...{ fromDay: formatDay(toDay - weekDays + 1), toDay: formatDay(toDay) },
    ...head,
    sinceDay: scores?.sinceDay == null ? null : formatDay(scores.sinceDay),
    sentences: weekSummary({ toDay, weeks, stoppedSince, scores }).map(({ parts, ...sentence }) => ({
      ...sentence,
      usual: sentence.usual === null ? null : { ...sentence.usual },
      parts: [...parts],
    })),
    callNote: call === undefined ? null : callNote(call),
    callFirst:
      call === undefined
        ? []
        : call.first.map((each) => ({ kind: call.kind, ...each, band: bandOfRisk(each.risk) })),
  };
}

function bandOfRisk(risk: number | null) {
  return risk === null ? null : bandOf(risk);
}

async function scoresOfWeek(context: Context, run: Run): Promise<ScoresOfWeek> {
  const { warehouse, organization } = context;
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
    whomToCall(context, run, earlier),
  ]);
  const { choice, settings } = run.body;
  return {
    ...{ sinceDay: earlier?.day ?? null, horizonDays: settings.churnHorizonDays, baseRate: baseRateOf(run) },
    ...{ isProven: choice.isProven, hasModel: choice.rung !== null, health, movement, call },
  };
}

/**
 * The largest accounts at risk; where there are none, the users at risk whose health fell most, and where there are none
 * of them either, the users with the highest churn risk if it is high.
 */
async function whomToCall(context: Context, run: Run, earlier: Run | undefined): Promise<ToCallFirst> {
  const ofAccounts = (await scoreContext(context, "account")).run;
  const hasAccounts = ofAccounts !== undefined && ofAccounts.body.scored > 0;
  const accounts = hasAccounts ? await accountsToCall(context, ofAccounts) : undefined;
  if (accounts !== undefined && accounts.total > 0) return accounts;
  const atRisk = { colour: "at_risk", sort: "change", descending: false } as const;
  const users = await usersToCall(context, run, earlier, atRisk);
  if (users.total > 0) return { kind: "user", by: "atRisk", hasAccounts, ...users };
  const highRisk = { band: "high", sort: "risk", descending: true } as const;
  return {
    ...{ kind: "user", by: "highRisk", hasAccounts },
    ...(await usersToCall(context, run, earlier, highRisk)),
  };
}

async function accountsToCall(context: Context, run: Run): Promise<ToCallFirst> {
  const { warehouse, organization } = context;
  const before = await earlierRun(context, "account", run, run.day - weekDays);
  const rows = await accountsAtRisk(warehouse, {
    run: rowsOf(organization.id, "account", run),
    earlier: before && rowsOf(organization.id, "account", before),
    limit: called,
  });
  const first = rows.map(async ({ entity, id, label, members, health, risk, change }) => {
    const reason = await reasonOf(context, "account", entity, run);
    return { id, label, members, health, risk, change, reason };
  });
  return {
    ...{ kind: "account", by: "atRisk", hasAccounts: true },
    ...{ total: rows[0]?.total ?? 0, first: await Promise.all(first) },
  };
}

async function usersToCall(
  context: Context,
  run: Run,
  earlier: Run | undefined,
  selection: Pick<ListQuestion, "colour" | "band" | "sort" | "descending">,
): Promise<Pick<ToCallFirst, "total" | "first">> {
  const { warehouse, organization, ledger } = context;
  const question: ListQuestion = {
    run: rowsOf(organization.id, "user", run),
    earlier: earlier && rowsOf(organization.id, "user", earlier),
    ...selection,
    limit: called,
    offset: 0,
  };
  const rows = await listScores(warehouse, question);
  const first = rows.map(async ({ id, label, health, risk, change }): Promise<ToCall> => {
    const found = await ledger.findUser(organization.id, id);
    const reason = found === undefined ? null : await reasonOf(context, "user", found.user.number, run);
    return { id, label, members: null, health, risk, change, reason };
  });
  return { total: await countListed(warehouse, question), first: await Promise.all(first) };
}

/** The weightiest reason that raises a churn risk; null without one. */
async function reasonOf(
  { warehouse, organization, zone }: Context,
  kind: EntityKind,
  entity: number,
  run: Run,
): Promise<string | null> {
  const question = { organization: { id: organization.id, zone }, kind, entity };
  const score = await explainedScore(warehouse, question, run);
  const reasons = (score?.explanation.reasons?.reasons ?? []).filter(({ points }) => points >= 1);
  return reasons.toSorted((a, b) => b.points - a.points)[0]?.text ?? null;
}
