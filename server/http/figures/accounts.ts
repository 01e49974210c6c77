/** Handlers of the JSON API about accounts. */
import type { Static } from "typebox";
import type { AccountErasureAnswer, NoParameters } from "../../../contract/api/api.ts";
import type {
  AccountAnswer,
  AccountParameters,
  AccountTimelineAnswer,
  TimelineParameters,
} from "../../../contract/api/lists.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { type AccountListRow, accountTimeline, accountWithId, userList } from "../../analytics/analytics.ts";
import type { OfRun } from "../../scoring/scoring.ts";
import { rowsOf } from "../../scoring/scoring.ts";
import { today } from "../api/days.ts";
import { type ApiContext, ApiError } from "../api/route.ts";
import { listedAccount, listedUser, nextPosition, positionOf, timelineEvent } from "../api/rows.ts";
import { withLabels } from "./event-labels.ts";
import { scoreContext } from "./score-context.ts";

type OfAccount = Pick<
  ApiContext<typeof AccountParameters, "/:accountId">,
  "warehouse" | "organization" | "path" | "zone" | "nowMs" | "passiveEvents"
>;

/** GET /api/accounts/:accountId */
export async function oneAccount(
  context: ApiContext<typeof AccountParameters, "/:accountId">,
): Promise<Static<typeof AccountAnswer>> {
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
}

/** DELETE /api/accounts/:accountId: answered when nothing is left. */
export async function eraseOneAccount({
  analysis,
  organization,
  actor,
  path,
}: ApiContext<typeof NoParameters, "/:accountId">): Promise<Static<typeof AccountErasureAnswer>> {
  const receipt = await analysis.eraseAccount(organization.id, path.accountId, { by: actor });
  if (receipt === undefined) throw new ApiError("not_found", errorMessages.accountNotFound);
  return { ...receipt };
}

/** GET /api/accounts/:accountId/timeline */
export async function timelineOfAccount(
  context: ApiContext<typeof TimelineParameters, "/:accountId">,
): Promise<Static<typeof AccountTimelineAnswer>> {
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
}

/** The account that a path names. @param run whose day its active members are told as of; today without one
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
