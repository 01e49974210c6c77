/** Handlers of the JSON API about accounts. */

import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { type AccountListRow, accountTimeline, accountWithId, userList } from "../../analytics/analytics.ts";
import { type OfRun, rowsOf } from "../../scoring/scoring.ts";
import type { AnalysisHandlers, ApiContext } from "../api/context.ts";
import { today } from "./days.ts";
import { withLabels } from "./event-labels.ts";
import { listedAccount, listedUser, nextPosition, positionOf, timelineEvent } from "./rows.ts";
import { scoreContext } from "./score-context.ts";

type OfAccount = Pick<
  ApiContext<"GET /api/accounts/:accountId">,
  "warehouse" | "organization" | "path" | "zone" | "nowMs" | "passiveEvents"
>;

export const accountsHandlers = {
  "GET /api/accounts/:accountId": async (context) => {
    const { run } = await scoreContext(context, "account");
    const account = await knownAccount(context, run && rowsOf(context.organization.id, "account", run));
    const { warehouse, organization, query } = context;
    const users = await userList(warehouse, {
      ...{ organization: organization.id, toDay: today(context), run: undefined, earlier: undefined },
      ...{ search: "", accountId: account.accountId, passiveEvents: await context.passiveEvents() },
      sort: "lastSeen",
      descending: true,
      limit: query.limit,
      offset: query.offset,
    });
    return { ...listedAccount(account), users: users.map(listedUser) };
  },

  /** answered when nothing is left. */
  "DELETE /api/accounts/:accountId": async ({ analysis, organization, actor, path }) => {
    const receipt = await analysis.eraseAccount(organization.id, path.accountId, { by: actor });
    if (receipt === undefined) throw new ApiError("not_found", errorMessages.accountNotFound);
    return { ...receipt };
  },

  "GET /api/accounts/:accountId/timeline": async (context) => {
    const { account } = await knownAccount(context);
    const { limit, event, before } = context.query;
    const events = await accountTimeline(context.warehouse, {
      organization: context.organization.id,
      account,
      limit,
      event,
      before: positionOf(before),
    });
    return {
      events: (await withLabels(context, events)).map((event) => ({
        ...timelineEvent(event),
        userId: event.userId,
        userLabel: event.userLabel,
      })),
      next: nextPosition(events, limit),
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** The account in a path. @param run its active members are counted as of this run's day; by default as of today
 * @throws ApiError when there is none */
export async function knownAccount(context: OfAccount, run?: OfRun): Promise<AccountListRow> {
  const { warehouse, organization, path } = context;
  const account = await accountWithId(warehouse, {
    organization: organization.id,
    accountId: path.accountId,
    passiveEvents: await context.passiveEvents(),
    toDay: today(context),
    run,
  });
  if (account === undefined) throw new ApiError("not_found", errorMessages.accountNotFound);
  return account;
}
