/** Handlers of the JSON API about one user. */
import type { Static } from "typebox";
import type { EraseParameters, ErasureAnswer, NoParameters, UserAnswer } from "../../../contract/api/api.ts";
import type { TimelineAnswer, TimelineParameters } from "../../../contract/api/lists.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { isUserExcluded, matchesOfRules, timeline, userSpan } from "../../analytics/analytics.ts";
import { formatDay } from "../../calendar/calendar.ts";
import type { UserAndAccount } from "../../ledger/ledger.ts";
import { today } from "../api/days.ts";
import { type ApiContext, ApiError } from "../api/route.ts";
import { exclusionRule, instant, nextPosition, positionOf, timelineEvent } from "../api/rows.ts";
import { withLabels } from "./event-labels.ts";

type OfUser = Pick<ApiContext<typeof NoParameters, "/:userId">, "ledger" | "organization" | "path">;

/** GET /api/users/:userId */
export async function oneUser(
  context: ApiContext<typeof NoParameters, "/:userId">,
): Promise<Static<typeof UserAnswer>> {
  const { user, account } = await knownUser(context);
  const ofUser = { organization: user.organization, user: user.number };
  const [passiveEvents, rules] = await Promise.all([
    context.passiveEvents(),
    context.ledger.exclusions.list(user.organization),
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
    account: account === null ? null : { id: account.accountId, name: account.name, avatar: account.avatar },
    firstIdentifiedAt: instant(user.firstIdentifiedAtMs),
    updatedAt: instant(user.updatedAtMs),
    firstSeenDay: span === undefined ? null : formatDay(span.firstDay),
    lastSeenDay: span === undefined ? null : formatDay(span.lastDay),
  };
}

/** DELETE /api/users/:userId: answered when nothing is left. */
export async function eraseOneUser({
  analysis,
  organization,
  actor,
  path,
  query,
}: ApiContext<typeof EraseParameters, "/:userId">): Promise<Static<typeof ErasureAnswer>> {
  const receipt = await analysis.erase(organization.id, path.userId, {
    by: actor,
    withAccount: query.withAccount,
  });
  if (receipt === undefined) throw new ApiError("not_found", errorMessages.userNotFound);
  return { ...receipt };
}

/** GET /api/users/:userId/timeline */
export async function userTimeline(
  context: ApiContext<typeof TimelineParameters, "/:userId">,
): Promise<Static<typeof TimelineAnswer>> {
  const { user } = await knownUser(context);
  const { limit, event, before } = context.query;
  const events = await timeline(context.warehouse, {
    organization: user.organization,
    user: user.number,
    limit,
    event,
    before: positionOf(before),
  });
  const labelled = await withLabels(context, events);
  return { events: labelled.map(timelineEvent), next: nextPosition(events, limit) };
}

/** The user whom a path names. @throws ApiError when there is none */
export async function knownUser({ ledger, organization, path }: OfUser): Promise<UserAndAccount> {
  const found = await ledger.findUser(organization.id, path.userId);
  if (found === undefined) throw new ApiError("not_found", errorMessages.userNotFound);
  return found;
}
