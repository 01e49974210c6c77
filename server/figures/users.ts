/** Handlers of the JSON API about one user. */

import { errorMessages } from "../../contract/errors.ts";
import { ApiError } from "../../contract/refusal.ts";
import { isUserExcluded } from "../analytics/entities/excluded-user.ts";
import { matchesOfRules } from "../analytics/entities/exclusion-matches.ts";
import { userSpan } from "../analytics/entities/user-span.ts";
import { latestEvent } from "../analytics/latest-event.ts";
import { formatDay } from "../calendar/days.ts";
import { instant } from "../calendar/instant.ts";
import type { AnalysisHandlers, ApiContext } from "../http/api/context.ts";
import { today } from "../http/api/days.ts";
import type { UserAndAccount } from "../ledger/entities.ts";
import { controlField, controlsOf } from "./controls.ts";
import { withLabels } from "./event-labels.ts";
import { ownerDetail, ownersOfOrganization } from "./owners.ts";
import { eventOfUser, exclusionRule, saidByPages } from "./rows.ts";

type OfUser = Pick<ApiContext<"GET /api/users/:userId">, "ledger" | "organization" | "path">;

export const usersHandlers = {
  "GET /api/users/:userId": async (context) => {
    const { user, account } = await knownUser(context);
    const ofUser = { organization: user.organization, user: user.number };
    const [passiveEvents, owners, rules, controls] = await Promise.all([
      context.passiveEvents(),
      ownersOfOrganization(context),
      context.ledger.exclusions.list(user.organization),
      controlsOf(context, "user"),
    ]);
    const [span, isExcluded, matches] = await Promise.all([
      userSpan(context.warehouse, { ...ofUser, toDay: today(context), passiveEvents }),
      isUserExcluded(context.warehouse, ofUser),
      matchesOfRules(context.warehouse, { ...ofUser, rules }),
    ]);
    return {
      userId: user.userId,
      email: user.email,
      traits: { ...user.traits },
      isAccountOwner: user.isAccountOwner,
      isExcluded,
      excludedBy: rules.filter((_, index) => (matches[index] ?? 0) > 0).map(exclusionRule),
      account:
        account === null ? null : { id: account.accountId, name: account.name, avatar: account.avatar },
      ...ownerDetail(owners, user.traits, account?.traits),
      ...controlField(controls, user.number),
      saidByPages: saidByPages(user),
      firstIdentifiedAt: instant(user.firstIdentifiedAtMs),
      updatedAt: instant(user.updatedAtMs),
      firstSeenDay: span === undefined ? null : formatDay(span.firstDay),
      lastSeenDay: span === undefined ? null : formatDay(span.lastDay),
    };
  },

  /** answered when nothing is left. */
  "DELETE /api/users/:userId": async ({ analysis, organization, actor, path, query }) => {
    const receipt = await analysis.erase(organization.id, path.userId, {
      by: actor,
      withAccount: query.withAccount,
    });
    if (receipt === undefined) throw new ApiError("not_found", errorMessages.userNotFound);
    return { ...receipt };
  },

  "GET /api/latest-event": async (context) => {
    const { warehouse, organization } = context;
    const found = await latestEvent(warehouse, { organization: organization.id, toDay: today(context) });
    const [event] = await withLabels(context, found === undefined ? [] : [found]);
    if (event === undefined) return { event: null };
    return { event: eventOfUser(event) };
  },
} satisfies Partial<AnalysisHandlers>;

/** The user in a path. @throws ApiError when there is none */
export async function knownUser({ ledger, organization, path }: OfUser): Promise<UserAndAccount> {
  const found = await ledger.findUser(organization.id, path.userId);
  if (found === undefined) throw new ApiError("not_found", errorMessages.userNotFound);
  return found;
}
