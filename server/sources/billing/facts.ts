/** Makes items of the events and traits that a billing tool's message says of a customer. */
import type { JsonObject } from "../../../contract/json.ts";
import type { SourcedItem, SourcedTrack } from "../../intake/admission/sourced.ts";
import { fittedProperties } from "./fitted.ts";
import type { Owner } from "./person.ts";

/** An event of billing. */
export interface BillingEvent {
  readonly event: string;
  readonly properties: JsonObject;
  /** Two messages for one fact have the same id, and the second is a duplicate. */
  readonly id?: string | undefined;
  /** As in `SourcedItem`. */
  readonly formerId?: string | undefined;
  /** As in `MessageKey`. With it the id is remembered for good. */
  readonly lastingDay?: number | undefined;
}

/** Events and traits of a customer. */
export interface CustomerFacts {
  readonly events: readonly BillingEvent[];
  readonly traits?: JsonObject;
}

/** The message that the facts come from. */
interface Message {
  readonly id: string;
  readonly atMs: number;
  readonly accountId: string | undefined;
}

/** The items of a message: perhaps an alias, a user with traits, then its events. */
export function billingItems(
  { id, atMs, accountId }: Message,
  facts: CustomerFacts,
  { userId, anonymousId, email, known }: Owner,
): readonly SourcedItem[] {
  const person = { userId, anonymousId };
  const account = accountId === undefined ? undefined : { id: accountId };
  const traits = facts.traits ?? {};
  const hasFacts = Object.keys(traits).length > 0 || account !== undefined;
  const identify: SourcedItem = {
    type: "identify",
    ...person,
    atMs,
    messageId: `${id}:identify`,
    email,
    traits,
    account,
  };
  const tracks = facts.events.map((event) =>
    billingTrack(event, { ...person, atMs, messageId: event.id ?? `${id}:${event.event}` }, accountId),
  );
  const waiting: SourcedItem[] =
    known === undefined ? [] : [{ type: "alias", ...known, atMs, messageId: `${id}:address` }];
  // Without a user and without traits an identify would be empty.
  return [...waiting, ...(userId !== undefined || hasFacts ? [identify] : []), ...tracks];
}

/** The item of a billing event. @param accountId the account that pays */
export function billingTrack(
  { event, properties, lastingDay, formerId }: BillingEvent,
  message: Pick<SourcedTrack, "userId" | "anonymousId" | "atMs" | "messageId">,
  accountId: string | undefined,
): SourcedItem {
  return {
    type: "track",
    ...message,
    lastingDay,
    event,
    ...(formerId !== undefined && { formerMessageId: formerId }),
    properties: fittedProperties(event, properties, accountId),
    // Cards are charged at night: billing events are no use of the product.
    isActivity: false,
    account: accountId === undefined ? undefined : { id: accountId },
  };
}
