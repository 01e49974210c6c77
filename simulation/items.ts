/** The items that an application would send of the simulated users, in the form of the write API. */
import type { Static } from "typebox";
import type { BatchIdentify, TrackBody } from "../contract/write-api.ts";
import type { Properties } from "./catalogue.ts";
import type { Person } from "./customers.ts";

/** The identity of a user as the write API takes it. */
export interface Identity {
  readonly userId: string;
  readonly email: string;
  readonly account: { readonly facts: { readonly accountId: string; readonly name: string } };
}

export interface Tracked<User extends Identity = Person> {
  readonly type: "track";
  readonly person: User;
  readonly timeMs: number;
  readonly event: string;
  readonly properties: Properties | undefined;
}

export interface Identified<User extends Identity = Person> {
  readonly type: "identify";
  readonly person: User;
  readonly timeMs: number;
  readonly properties: Properties | undefined;
  readonly isAccountOwner: boolean | undefined;
  /** Attributes of the user's account. */
  readonly attributes?: Attributes;
}

/** Attributes of an account; null takes one away. */
export type Attributes = Readonly<Record<string, string | number | null>>;

export type Item<User extends Identity = Person> = Tracked<User> | Identified<User>;

type WireIdentify = Static<typeof BatchIdentify>;
type WireTrack = { readonly type: "track" } & Static<typeof TrackBody>;

/** An item of POST /batch. */
export function wireItem(item: Item<Identity>, messageId: string): WireIdentify | WireTrack {
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
    account: {
      id: person.account.facts.accountId,
      name: person.account.facts.name,
      ...(item.attributes !== undefined && { properties: item.attributes }),
    },
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
export function change<User extends Identity>(
  person: User,
  timeMs: number,
  what: { readonly properties?: Properties; readonly isAccountOwner?: boolean },
): Identified<User> {
  const { properties, isAccountOwner } = what;
  return { type: "identify", person, timeMs, properties, isAccountOwner };
}

/** An identify for attributes of the user's account. */
export function describe<User extends Identity>(
  person: User,
  timeMs: number,
  attributes: Attributes,
): Identified<User> {
  return { type: "identify", person, timeMs, properties: undefined, isAccountOwner: undefined, attributes };
}

/** An event. */
export function event<User extends Identity>(
  person: User,
  timeMs: number,
  name: string,
  properties?: Properties,
): Tracked<User> {
  return { type: "track", person, timeMs, event: name, properties };
}
