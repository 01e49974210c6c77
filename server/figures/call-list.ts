/** The call list as the API answers it. */
import { type CallRow, readCallList } from "../analytics/call-list.ts";
import { dayOrNull } from "../calendar/days.ts";
import type { AnalysisHandlers } from "../http/api/context.ts";
import { bothWithin } from "./segment-evaluation.ts";

export const callListHandlers = {
  "GET /api/call-list": async (context) => {
    const { organization, query } = context;
    const { list, segment, limit } = query;
    const within = segment === undefined ? {} : { within: await bothWithin(context, segment) };
    const { day, currency, rows, note } = await readCallList(context, organization, {
      list,
      limit,
      ...within,
    });
    return { day: dayOrNull(day), currency, rows: rows.map(rowAnswer), note };
  },
} satisfies Partial<AnalysisHandlers>;

function rowAnswer({ kind, id, name, mrr, plan, reason, ...row }: CallRow) {
  return {
    kind,
    accountId: kind === "account" ? id : null,
    userId: kind === "user" ? id : null,
    name,
    mrr,
    plan,
    class: row.class,
    reason,
    rankValue: row.rankValue,
    expectedLoss: row.expectedLoss,
    endsOn: dayOrNull(row.endsDay),
    renewsOn: dayOrNull(row.renewsDay),
    owner: row.owner?.name ?? null,
    lastContactDays: row.lastContactDays,
    openTask: row.openTask,
    controlUntil: dayOrNull(row.controlUntil),
    snoozedUntil: dayOrNull(row.snoozedUntil),
  };
}
