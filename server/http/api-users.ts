/** Handlers of the JSON API about one user. */
import type { Static } from "typebox";
import type {
  ErasureAnswer,
  NoParameters,
  TimelineAnswer,
  TimelineParameters,
  UserAnswer,
} from "../../contract/api.ts";
import { errorMessages } from "../../contract/errors.ts";
import { timeline } from "../analytics/timeline.ts";
import { userSpan } from "../analytics/user-span.ts";
import { formatDay } from "../calendar/days.ts";
import { isJsonObject, type UserAndAccount } from "../ledger/ledger.ts";
import { type ApiContext, ApiError } from "./api.ts";

type OfUser = Pick<ApiContext<typeof NoParameters, "/:userId">, "ledger" | "organization" | "path">;

/** GET /api/users/:userId */
export async function oneUser(
  context: ApiContext<typeof NoParameters, "/:userId">,
): Promise<Static<typeof UserAnswer>> {
  const { user, account } = await knownUser(context);
  const span = await userSpan(context.warehouse, { organization: user.organization, user: user.number });
  return {
    userId: user.userId,
    email: user.email,
    traits: { ...user.traits },
    isAccountOwner: user.isAccountOwner,
    account: account === null ? null : { id: account.accountId, name: account.name, avatar: account.avatar },
    firstIdentifiedAt: isoText(user.firstIdentifiedAtMs),
    updatedAt: isoText(user.updatedAtMs),
    firstSeenDay: span === undefined ? null : formatDay(span.firstDay),
    lastSeenDay: span === undefined ? null : formatDay(span.lastDay),
  };
}

/** DELETE /api/users/:userId: answered when nothing is left. */
export async function eraseOneUser({
  analysis,
  organization,
  path,
}: ApiContext<typeof NoParameters, "/:userId">): Promise<Static<typeof ErasureAnswer>> {
  const receipt = await analysis.erase(organization.id, path.userId);
  if (receipt === undefined) throw new ApiError("not_found", errorMessages.userNotFound);
  return { ...receipt };
}

/** GET /api/users/:userId/timeline */
export async function userTimeline(
  context: ApiContext<typeof TimelineParameters, "/:userId">,
): Promise<Static<typeof TimelineAnswer>> {
  const { user } = await knownUser(context);
  const events = await timeline(context.warehouse, {
    organization: user.organization,
    user: user.number,
    limit: context.query.limit,
  });
  return {
    events: events.map(({ id, event, timeMs, receivedAtMs, properties }) => ({
      id,
      event,
      timestamp: isoText(timeMs),
      receivedAt: isoText(receivedAtMs),
      properties: objectIn(properties),
    })),
  };
}

/** @throws ApiError when there is no such user. */
async function knownUser({ ledger, organization, path }: OfUser): Promise<UserAndAccount> {
  const found = await ledger.findUser(organization.id, path.userId);
  if (found === undefined) throw new ApiError("not_found", errorMessages.userNotFound);
  return found;
}

function objectIn(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? { ...value } : {};
}

function isoText(ms: number): string {
  return new Date(ms).toISOString();
}
