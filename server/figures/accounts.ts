/** Handlers of the JSON API about accounts. */

import { errorMessages } from "../../contract/errors.ts";
import { ApiError } from "../../contract/refusal.ts";
import { type AccountListRow, lists } from "../analytics/entities/lists.ts";
import type { AnalysisHandlers, ApiContext } from "../http/api/context.ts";
import { today, usersQuestion } from "../http/api/days.ts";
import type { OfRun } from "../scoring/queries/lists/reading.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import { controlField, controlsOf } from "./controls.ts";
import { ownerDetail, ownersOfOrganization } from "./owners.ts";
import { listedAccount, listedUser, saidByPages } from "./rows.ts";
import { scoreContext } from "./score-context.ts";

type OfAccount = Pick<
  ApiContext<"GET /api/accounts/:accountId">,
  "warehouse" | "organization" | "path" | "zone" | "nowMs" | "passiveEvents"
>;

export const accountsHandlers = {
  "GET /api/accounts/:accountId": async (context) => {
    const { run } = await scoreContext(context, "account");
    const account = await knownAccount(context, run && rowsOf(context.organization.id, "account", run));
    const question = {
      ...(await usersQuestion(context, today(context))),
      run: undefined,
      earlier: undefined,
      search: "",
      accountId: account.accountId,
      sort: "lastSeen" as const,
      descending: true,
      ...context.query,
    };
    const [users, owners, controls, userControls, stored] = await Promise.all([
      lists.user.page(context.warehouse, question),
      ownersOfOrganization(context),
      controlsOf(context, "account"),
      controlsOf(context, "user"),
      context.ledger.findAccount(context.organization.id, account.accountId),
    ]);
    const listed = listedAccount(account);
    const { isOwnerOfAccount: _, ...owner } = ownerDetail(owners, listed.traits);
    return {
      ...listed,
      ...owner,
      ...controlField(controls, account.entity),
      saidByPages: stored === undefined ? [] : saidByPages(stored),
      users: users.map((row) => ({ ...listedUser(row), ...controlField(userControls, row.entity) })),
    };
  },

  /** answered when nothing is left. */
  "DELETE /api/accounts/:accountId": async ({ analysis, organization, actor, path }) => {
    const receipt = await analysis.eraseAccount(organization.id, path.accountId, { by: actor });
    if (receipt === undefined) throw new ApiError("not_found", errorMessages.accountNotFound);
    return { ...receipt };
  },
} satisfies Partial<AnalysisHandlers>;

/** The account in a path. @param run its active members are counted as of this run's day; by default as of
 * today
 * @throws ApiError when there is none */
export async function knownAccount(context: OfAccount, run?: OfRun): Promise<AccountListRow> {
  const [account] = await lists.account.page(context.warehouse, {
    ...(await usersQuestion(context, today(context))),
    run,
    earlier: undefined,
    search: "",
    accountId: context.path.accountId,
    sort: "accountId",
    descending: false,
    limit: 1,
    offset: 0,
  });
  if (account === undefined) throw new ApiError("not_found", errorMessages.accountNotFound);
  return account;
}
