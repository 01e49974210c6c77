/** A transfer: a tool moves everything that one customer has bought to another, and names no subscription. */
import type { JsonObject } from "../../../contract/json.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Delivery, TranslatedItem } from "../source.ts";
import { billingTrack } from "./facts.ts";
import { endedTraits } from "./plan.ts";
import { beforeOf, subscriptionIdsOf } from "./subscription.ts";

/** A customer by the visitor id that its tool's id counts as, and the user's id if it is one. */
export interface Party {
  readonly anonymousId: string;
  readonly userId: string | undefined;
}

/** A message that moves subscriptions. */
export interface Transfer {
  readonly id: string;
  readonly atMs: number | undefined;
  readonly testMode: string | undefined;
  readonly from: readonly Party[];
  readonly to: readonly Party[];
}

type TransferLedger = Pick<Ledger, "identities" | "findUser">;

/** The traits of a user that tell of a subscription. They move with it. */
const traitsOfPlan = [
  "plan",
  "planAmount",
  "planCurrency",
  "planInterval",
  "subscriptionStatus",
  "subscriptionEndsAt",
] as const;

/**
 * Translates a transfer. The subscriptions are those that the givers' traits name. Visitors among the givers
 * who are no user's yet become the taker's, with what waits for them.
 */
export async function translateTransfer(
  ledger: TransferLedger,
  organization: number,
  body: unknown,
  { id, atMs: sentMs, from, to }: Transfer,
  { receivedAtMs }: Delivery,
): Promise<readonly TranslatedItem[]> {
  const atMs = sentMs ?? receivedAtMs;
  const userOf = async ({ anonymousId, userId }: Party) =>
    userId ?? (await ledger.identities.linkedTo(organization, anonymousId));
  const takers = await Promise.all(to.map(userOf));
  const taker = takers.find((userId) => userId !== undefined);
  const ignored = (why: string) => [{ sent: body, translated: { ignored: why } }];
  if (taker === undefined) return ignored("TRANSFER is not used: no user is known who takes over.");
  const givers = await Promise.all(from.map(async (party) => ({ party, userId: await userOf(party) })));
  const visitors = givers.filter(({ userId }) => userId === undefined);
  const users = [...new Set(givers.flatMap(({ userId }) => userId ?? []))].filter((one) => one !== taker);
  const found = await Promise.all(users.map((userId) => ledger.findUser(organization, userId)));
  const known = found.flatMap((one) => one?.user ?? []);
  const ids = [...new Set(known.flatMap(({ traits }) => subscriptionIdsOf(traits)))];
  const aliases = visitors.map(({ party: { anonymousId } }) => ({
    type: "alias" as const,
    previousId: anonymousId,
    userId: taker,
    atMs,
    messageId: `${id}:${anonymousId}`,
  }));
  const taken = (await ledger.findUser(organization, taker))?.user.traits ?? {};
  const giving = known.filter(({ traits }) => subscriptionIdsOf(traits).length > 0);
  const identify = (userId: string, traits: JsonObject) => ({
    type: "identify" as const,
    userId,
    anonymousId: undefined,
    atMs,
    messageId: `${id}:identify:${userId}`,
    email: undefined,
    traits,
    account: undefined,
  });
  const items = [
    ...aliases,
    ...giving.map(({ userId, traits }) => identify(userId, traitsAfterGiving(traits))),
    ...(ids.length === 0
      ? []
      : [identify(taker, traitsAfterTaking(taken, giving.at(-1)?.traits ?? {}, ids))]),
    ...ids.map((subscriptionId) =>
      billingTrack(
        { event: "subscription_changed", properties: { subscriptionId, isTransfer: true } },
        {
          userId: taker,
          anonymousId: undefined,
          atMs,
          messageId: `${id}:subscription_changed:${subscriptionId}`,
        },
        undefined,
      ),
    ),
  ];
  return items.length === 0
    ? ignored("No subscription is known of who gives: its next renewal says who has it.")
    : [{ sent: body, translated: { items } }];
}

function traitsAfterGiving(traits: JsonObject): JsonObject {
  const { endsAt } = beforeOf(traits);
  return Object.assign(
    endedTraits("transferred"),
    { subscriptionIds: null },
    endsAt && { subscriptionEndsAt: null },
  );
}

function traitsAfterTaking(own: JsonObject, given: JsonObject, ids: readonly string[]): JsonObject {
  const moved = traitsOfPlan.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
  const subscriptionIds = [...new Set([...subscriptionIdsOf(own), ...ids])];
  return Object.assign(Object.fromEntries(moved), { subscriptionIds });
}
