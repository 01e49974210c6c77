/** The items that an application would send of the simulated users, in the form of the write API. */
import type { Static } from "typebox";
import type { BatchIdentify, TrackBody } from "../contract/write-api.ts";
import type { Properties } from "./catalogue.ts";
import type { Person } from "./customers.ts";

export interface Tracked {
  readonly type: "track";
  readonly person: Person;
  readonly timeMs: number;
  readonly event: string;
  readonly properties: Properties | undefined;
}

export interface Identified {
  readonly type: "identify";
  readonly person: Person;
  readonly timeMs: number;
  readonly properties: Properties | undefined;
  readonly isAccountOwner: boolean | undefined;
}

export type Item = Tracked | Identified;

type WireIdentify = Static<typeof BatchIdentify>;
type WireTrack = { readonly type: "track" } & Static<typeof TrackBody>;

/** An item of POST /batch. */
export function wireItem(item: Item, messageId: string): WireIdentify | WireTrack {
  const { type, person, timeMs, properties } = item;
  const common = {
    userId: person.userId,
    ...(properties !== undefined && { properties }),
    timestamp: new Date(timeMs).toISOString(),
    messageId,
  };
  if (type === "track") return { type, event: item.event, ...common };
  return {
    type,
    email: person.email,
    account: { id: person.account.facts.accountId, name: person.account.facts.name },
    ...(item.isAccountOwner !== undefined && { isAccountOwner: item.isAccountOwner }),
    ...common,
  };
}

/** A first identify: all that is known at the sign-up. */
export function signUp(person: Person): Identified {
  const { account, kind } = person;
  const isOwner = account.owner === person;
  return {
    type: "identify",
    person,
    timeMs: person.signedUpMs,
    properties: {
      name: person.name,
      plan: account.planName,
      acquisitionChannel: account.facts.channel.name,
      companySize: account.facts.size.name,
      segment: account.facts.segment,
      role: kind === "person" ? (isOwner ? "admin" : "member") : kind,
      createdAt: new Date(person.signedUpMs).toISOString(),
    },
    isAccountOwner: isOwner,
  };
}

/** An identify for a change. */
export function change(
  person: Person,
  timeMs: number,
  what: { readonly properties?: Properties; readonly isAccountOwner?: boolean },
): Identified {
  const { properties, isAccountOwner } = what;
  return { type: "identify", person, timeMs, properties, isAccountOwner };
}

/** An event. */
export function event(person: Person, timeMs: number, name: string, properties?: Properties): Tracked {
  return { type: "track", person, timeMs, event: name, properties };
}
