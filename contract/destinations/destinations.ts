/** Kinds, states and limits of destinations and their deliveries. Pages import it, so it imports no
 * schema. */

export const destinationLimits = {
  /** Destinations that owners manage; team members' own digests do not count. */
  perOrganization: 20,
  nameCharacters: 80,
  addressCharacters: 2_000,
  /** Of a message. */
  bodyBytes: 20_000,
  /** Of an answer, in the log of deliveries. */
  answerBytes: 4_096,
  /** E-mails of an organization that ask a recipient to agree, in 24 hours. */
  askedPerDay: 20,
  /** E-mails a day that ask one team member to agree to the own digest. They do not count for the
   * organization. */
  ownAskedPerDay: 3,
  /** Changes of the period of one member's own digest, in 24 hours. */
  ownChangesPerDay: 20,
  /** The log of deliveries reaches back so far. */
  keptDays: 30,
} as const;

/** The name of the e-mail destination for a member's own digest. It ends with the membership. @param person
 * the member's id */
export function ownDigestName(person: number): string {
  return `Digest of member ${person}`;
}

/** Whether a name is that of a member's own digest. No other destination has one. */
export function isOwnDigestName(name: string): boolean {
  return /^Digest of member [0-9]+$/i.test(name);
}

/** How a message is sent. */
export const destinationKinds = ["webhook", "slack", "email"] as const;
export type DestinationKind = (typeof destinationKinds)[number];

/** Types of messages. `test` is sent by hand only. */
export const messageTypes = [
  "alert.fired",
  "alert.resolved",
  "scores.completed",
  "source.silent",
  "source.resumed",
  "model.changed",
  "digest",
  "test",
] as const;
export type MessageType = (typeof messageTypes)[number];

/** Messages that a destination may ask for. `digest.…`: the message `digest`, every day or on Mondays. With
 * `source.silent` it also gets `source.resumed`. Alerts come by the rules that name the destination. */
export const noticeTypes = [
  "scores.completed",
  "source.silent",
  "model.changed",
  "digest.daily",
  "digest.weekly",
] as const;
export type NoticeType = (typeof noticeTypes)[number];

/** `unconfirmed`: the recipient of an e-mail address has not agreed yet. It gets no messages, and none are
 * held. `active`: sends. `paused`: messages are held. An installation that was restored, copied or moved
 * begins with paused destinations. `disabled`: it failed for too long, or the recipient unsubscribed.
 * Messages that waited are held. New messages are not kept. */
export const destinationStates = ["unconfirmed", "active", "paused", "disabled"] as const;
export type DestinationState = (typeof destinationStates)[number];

/** `held`: the destination was paused or disabled. `canceled`: it names a user who was excluded or erased, or
 * an owner dropped it. */
export const deliveryStates = ["pending", "held", "delivered", "failed", "canceled"] as const;
export type DeliveryState = (typeof deliveryStates)[number];
