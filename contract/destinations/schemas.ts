/** Destinations of messages, and the log of their deliveries, as JSON Schema. */
import Type, { type Static } from "typebox";
import { closedObject, Field, listOf, nullable, Parameter } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import {
  deliveryStates,
  destinationKinds,
  destinationLimits,
  destinationStates,
  messageTypes,
  noticeTypes,
} from "./destinations.ts";

const name = Type.String({
  ...nameRules,
  maxLength: destinationLimits.nameCharacters,
  description:
    "Unique in the organization. The destination `Digest of member 3` sends the own digest of the team member with id 3. Owners can pause, resume and delete it. It does not count towards the limit of destinations.",
  "x-send": `1 to ${destinationLimits.nameCharacters} characters and no control character`,
});

const address = Type.String({
  minLength: 1,
  maxLength: destinationLimits.addressCharacters,
  description:
    "An https address, or an e-mail address. The recipient of an e-mail address gets a link by e-mail, and has to agree by it. Sending the address again before the recipient has agreed sends the link again. A Slack address is a secret, so it is never shown again.",
  "x-send": "an https:// address, or an e-mail address",
});

const notices = Type.Array(Type.Enum([...noticeTypes]), {
  uniqueItems: true,
  description:
    "Messages about the whole organization that the destination gets, in addition to alerts of rules that name it. With source.silent it also gets source.resumed.",
  "x-send": `a list of ${noticeTypes.join(", ")}`,
});

const sendsEmails = Type.Boolean({
  description:
    "Whether messages about users contain their e-mail addresses. The addresses leave the installation with the messages.",
  "x-send": "true or false",
});

const kind = Type.Enum([...destinationKinds], {
  description:
    "webhook: Standard Webhooks 1.0.0, signed. slack: an incoming webhook of Slack, Mattermost or Discord (with /slack at the end). email: if the installation sends e-mail.",
  "x-send": `one of ${destinationKinds.join(", ")}`,
});

export const DestinationAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  kind,
  name,
  address: Field.textOrNull("Shown to owners only. Null for Slack, because its address is a secret."),
  host: Field.text("The host of the address, or the domain of the e-mail address."),
  notices,
  sendsEmails,
  state: Field.oneOf(
    destinationStates,
    "unconfirmed: the recipient has not agreed yet. disabled: 20 attempts failed within 5 days or more, the receiver answered 410, or the recipient unsubscribed.",
  ),
  stoppedBecause: Field.textOrNull("Why the service paused or disabled the destination. Otherwise null."),
  failingSince: nullable(
    Field.instant(
      "The time of the first failed attempt since the last success. Null while attempts succeed.",
    ),
  ),
  lastDeliveredAt: nullable(Field.instant("When a message was last delivered. Null before the first.")),
  pending: Field.count("Messages that wait for their next attempt."),
  held: Field.count("Messages that are kept until an owner sends or drops them."),
  createdAt: Field.instant("When the destination was made."),
  updatedAt: Field.instant("When the destination was last changed."),
});

export const DestinationsAnswer = Type.Object({
  destinations: Type.Array(DestinationAnswer, { description: "By name." }),
});

const secret = Field.textOrNull(
  "The secret with which a webhook's receiver verifies messages, shown only once. Null for Slack and e-mail.",
);

export const DestinationCreateBody = closedObject({
  kind,
  name,
  address,
  notices: Type.Optional(notices),
  sendsEmails: Type.Optional(sendsEmails),
});
export type DestinationCreateBody = Static<typeof DestinationCreateBody>;

export const DestinationCreateAnswer = Type.Object({ destination: DestinationAnswer, secret });

export const DestinationChangeBody = closedObject(
  {
    name: Type.Optional(name),
    address: Type.Optional(address),
    notices: Type.Optional(notices),
    sendsEmails: Type.Optional(sendsEmails),
    state: Type.Optional(
      Type.Enum(["active", "paused"], {
        description: "active also starts a disabled destination again.",
        "x-send": "active or paused",
      }),
    ),
  },
  {
    minProperties: 1,
    "x-send": "a JSON object with at least one of name, address, notices, sendsEmails, state",
  },
);

export const AgreeBody = closedObject({
  destination: Type.Integer({ minimum: 1, "x-send": "the number in the link" }),
  code: Type.String({ maxLength: 100, "x-send": "the code in the link" }),
});
export const AgreeAnswer = Type.Object({
  address: Field.text("The e-mail address."),
  state: Field.oneOf(destinationStates, "The state now."),
});

export const SecretChangeAnswer = Type.Object({ secret });

export const HeldBody = closedObject({
  held: Type.Enum(["send", "drop"], {
    description: "Whether the held messages are sent or dropped.",
    "x-send": "send or drop",
  }),
});
export const HeldAnswer = Type.Object({ messages: Field.count("Messages that were sent or dropped.") });

export const DeliveriesParameters = closedObject({
  destination: Type.Optional(
    Type.Integer({ minimum: 1, description: "Only deliveries to the destination with this id." }),
  ),
  state: Type.Optional(Type.Enum([...deliveryStates])),
  limit: Parameter.positive(200, 50, "At most this many deliveries."),
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: "The id of the last delivery of the previous page." }),
  ),
});

const deliveryFields = {
  id: Type.Integer({ minimum: 1 }),
  destination: Type.Integer({ minimum: 1 }),
  messageId: Field.text("The header webhook-id: the same for every attempt."),
  type: Field.oneOf(messageTypes, "The type of the message."),
  state: Field.oneOf(deliveryStates, "The outcome so far."),
  attempts: Field.count("Attempts to send the message, since it was last sent again by hand."),
  dueAt: nullable(Field.instant("When the next attempt is due. Null if no attempt follows.")),
  attemptedAt: nullable(Field.instant("When the last attempt ended.")),
  status: nullable(Field.integer("The HTTP status of the last answer. Null without an answer.")),
  said: Field.textOrNull(
    `The first ${destinationLimits.answerBytes} bytes of the last answer, or why there was no answer. Shown to owners only.`,
  ),
  createdAt: Field.instant("When the message was made."),
};

export const DeliveryAnswer = Type.Object(deliveryFields);

export const DeliveriesAnswer = Type.Object({
  deliveries: listOf(`The newest first, from the last ${destinationLimits.keptDays} days.`, deliveryFields),
});
