/** The JSON API's users and accounts, as lists and one by one, as JSON Schema: parameters and answers. */
import Type from "typebox";
import { count, day, instant, nullable } from "./api.ts";

const strict = { additionalProperties: false } as const;

const pageParameters = {
  limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "At most this many." }),
  offset: Type.Integer({
    minimum: 0,
    maximum: 10_000_000,
    default: 0,
    description: "So many are passed over.",
  }),
};

const order = Type.Enum(["ascending", "descending"], { default: "descending" });

const search = (where: string) =>
  Type.String({ maxLength: 256, default: "", description: `A text in ${where}, whatever the case.` });

const traits = Type.Record(Type.String(), Type.Unknown());

const listedUser = Type.Object({
  userId: Type.String(),
  email: Type.String(),
  name: nullable(Type.String(), { description: "The trait `name`, if it is a text." }),
  accountId: nullable(Type.String()),
  accountName: nullable(Type.String()),
  isAccountOwner: nullable(Type.Boolean()),
  isExcluded: Type.Boolean({ description: "Whether the user counts in no figure." }),
  firstIdentifiedAt: instant("When the user was identified first."),
  firstSeenDay: nullable(day("The day of the user's first event.")),
  lastSeenDay: nullable(day("The day of the user's last event.")),
  traits,
});

export const UserListParameters = Type.Object(
  {
    search: search("userId, email or the trait `name`"),
    trait: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: "Only users whose trait of this name …" }),
    ),
    value: Type.Optional(
      Type.String({
        maxLength: 256,
        description:
          "… has this value; what is no string is compared as its JSON, cut off after 256 characters.",
      }),
    ),
    sort: Type.Enum(["lastSeen", "userId", "email"], { default: "lastSeen" }),
    order,
    ...pageParameters,
  },
  strict,
);

export const UserListAnswer = Type.Object({
  total: count("Users on all pages together."),
  users: Type.Array(listedUser),
});

const accountFields = {
  accountId: Type.String(),
  name: Type.String(),
  avatar: nullable(Type.String()),
  createdAt: instant("When the account was seen first."),
  members: count("Users who belong to it now, without those who are excluded from figures."),
  activeMembers: count("Members who did anything within the 28 days that end today."),
  firstSeenDay: nullable(day("The day of its members' first event.")),
  lastSeenDay: nullable(day("The day of its members' last event.")),
};

export const AccountListParameters = Type.Object(
  {
    search: search("id or name"),
    sort: Type.Enum(["lastSeen", "accountId", "name", "members"], { default: "lastSeen" }),
    order,
    ...pageParameters,
  },
  strict,
);

export const AccountListAnswer = Type.Object({
  total: count("Accounts on all pages together."),
  accounts: Type.Array(Type.Object(accountFields)),
});

export const AccountParameters = Type.Object(pageParameters, strict);

export const AccountAnswer = Type.Object({
  ...accountFields,
  users: Type.Array(listedUser, { description: "Its members, those who did anything last first." }),
});

export const TimelineParameters = Type.Object(
  {
    limit: pageParameters.limit,
    event: Type.String({
      maxLength: 256,
      default: "",
      description: "Only events with exactly this name; empty for all.",
    }),
    before: Type.Optional(
      Type.String({
        pattern: "^-?[0-9]{1,14}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        description: "To read on: `next` of the answer before.",
      }),
    ),
  },
  strict,
);

const timelineFields = {
  id: Type.String({ description: "The event's own id." }),
  event: Type.String(),
  timestamp: instant("When it happened."),
  receivedAt: instant("When it was received."),
  properties: Type.Record(Type.String(), Type.Unknown()),
};

const next = nullable(Type.String(), {
  description: "To be sent as `before` for older events; null at the end.",
});

export const TimelineAnswer = Type.Object({
  events: Type.Array(Type.Object(timelineFields), { description: "The newest first." }),
  next,
});

export const AccountTimelineAnswer = Type.Object({
  events: Type.Array(
    Type.Object({ ...timelineFields, userId: Type.String({ description: "Who did it." }) }),
    {
      description: "Events of users who belonged to the account when they were received. The newest first.",
    },
  ),
  next,
});
