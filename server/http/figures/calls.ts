/** The users and accounts to call first, for the overview and the lists: scoring/queries/lists/to-call.ts defines it. */

import type { Controls } from "../../actions/actions.ts";
import type { ToCall, ToCallFirst } from "../../analytics/analytics.ts";
import {
  callChangeDays,
  type EntityKind,
  type EntityToCall,
  entitiesToCall,
  explainedScore,
  rowsOf,
  type ToCallQuestion,
} from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { OrganizationContext } from "../api/context.ts";
import { comparedRisk } from "./rows.ts";
import { activityOrderOfRun, earlierRun, type Run, type RunContext, scoreContext } from "./score-context.ts";
import type { Within } from "./segments/within.ts";
import { controlsOf } from "./work/controls.ts";

const called = 3;

type CallContext = RunContext & Pick<OrganizationContext, "ledger">;

/** The accounts that are to be called first, or the users where no account is, or where the segment has none.
 * @param ofUsers their newest run @param within all users and accounts, or those of a segment */
export async function whomToCall(context: CallContext, ofUsers: Run, within: Within): Promise<ToCallFirst> {
  const isOfUsers = within.accounts === undefined;
  const ofAccounts = isOfUsers ? undefined : (await scoreContext(context, "account")).run;
  const hasAccounts = ofAccounts !== undefined && ofAccounts.body.scored > 0;
  if (hasAccounts && within.accounts !== undefined) {
    const accounts = await firstOf(context, "account", ofAccounts, within.accounts);
    if (accounts.total > 0) return { kind: "account", hasAccounts, isOfUsers, ...accounts };
  }
  const users = await firstOf(context, "user", ofUsers, within.users);
  return { kind: "user", hasAccounts, isOfUsers, ...users };
}

/** By which scores a list says whether its rows are to be called; undefined before the first. */
export async function questionOfCalls(
  context: RunContext,
  kind: EntityKind,
  controls: Controls,
): Promise<ToCallQuestion | undefined> {
  const { run } = await scoreContext(context, kind);
  return run && questionOf(context, kind, run, controls);
}

async function questionOf(
  context: RunContext,
  kind: EntityKind,
  run: Run,
  controls: Controls,
): Promise<ToCallQuestion> {
  const { id } = context.organization;
  const weekBefore = await earlierRun(context, kind, run, run.day - callChangeDays);
  return {
    run: rowsOf(id, kind, run),
    highRisk: run.body.riskScale.high,
    weekBefore: weekBefore && rowsOf(id, kind, weekBefore),
    controls: [...controls.keys()],
  };
}

async function firstOf(
  context: CallContext,
  kind: EntityKind,
  run: Run,
  within: Warehouse,
): Promise<Pick<ToCallFirst, "total" | "first" | "day">> {
  const question = {
    ...(await questionOf(context, kind, run, await controlsOf(context, kind))),
    activityOrder: await activityOrderOfRun(context, kind, run),
    limit: called,
  };
  const rows = await entitiesToCall(within, question);
  const first = rows.map(async ({ entity, total: _, members, ...row }: EntityToCall): Promise<ToCall> => {
    const reason = await reasonOf(context, kind, entity, run);
    return {
      ...row,
      ...{ members: kind === "user" ? null : members, ...comparedRisk(row.risk, run), reason },
    };
  });
  return { total: rows[0]?.total ?? 0, day: run.day, first: await Promise.all(first) };
}

/** The weightiest reason that raises a churn risk, without its points; null without one. */
async function reasonOf(
  { warehouse, organization, zone }: RunContext,
  kind: EntityKind,
  entity: number,
  run: Run,
): Promise<string | null> {
  const question = { organization: { id: organization.id, zone }, kind, entity };
  const score = await explainedScore(warehouse, question, run);
  const reasons = (score?.explanation.reasons?.reasons ?? []).filter(({ points }) => points >= 1);
  const text = reasons.toSorted((a, b) => b.points - a.points)[0]?.text;
  return text === undefined ? null : text.slice(0, text.lastIndexOf(": "));
}
