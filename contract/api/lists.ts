/** The JSON API's users and accounts, as lists and one by one, as JSON Schema: parameters and answers. */
import Type from "typebox";
import { billingFields, billingHead, billingSorts } from "../billing/payers.ts";
import { timelineKinds } from "../notes-and-tasks.ts";
import { accountFilters, namingFilters, oneTrait, userFilters } from "../segments/filters.ts";
import { eventLabel, saidByPagesField } from "./api.ts";
import { beforeParameter, controlField, ownerFields, ownerText } from "./list-fields.ts";
import { closedObject, Field, inSegment, listOf, nullable, objectOrNull, Parameter } from "./schema.ts";
import { since, Verdict } from "./score-parts.ts";
import { activityPosition, leadsWithRisk, listedScores, listHead } from "./scores.ts";

const scoreSorts = ["lastSeen", "firstSeen", "health", "risk", "engagement", "momentum", "change"] as const;

const sortText =
  "Rows without the value come last. Rows with equal scores, or without a score, are sorted by `lastSeen`, the latest first. Pages sort by `risk`, the highest first: rows without a churn risk (churned, or not scored yet) come last.";

/** Beside lists with scores. */
const usualChange = nullable(Type.Number(), {
  description:
    "Points by which health usually changes in a week: two of three changes in the four weeks before the scores were smaller. Counted are users or accounts with health that had not churned, at the start and the end of the week. Null with fewer than 30 changes.",
});

const userFields = {
  userId: Type.String(),
  email: Field.textOrNull("Null until it is known."),
  name: Field.textOrNull("The trait `name`, if it is a text."),
  accountId: nullable(Type.String()),
  accountName: nullable(Type.String()),
  isAccountOwner: nullable(Type.Boolean()),
  isExcluded: Field.boolean("Whether the user counts in no figure."),
  firstIdentifiedAt: Field.instant("When the user was identified first."),
  firstSeenDay: nullable(Field.day("The day of the user's first engagement event.")),
  lastSeenDay: nullable(Field.day("The day of the user's last engagement event.")),
  traits: Type.Record(Type.String(), Type.Unknown()),
};

/** With `sort=trait`. */
const sortTrait = (trait: "trait" | "attribute") =>
  Parameter.optionalName(`With sort=trait: the ${trait}'s name. Numbers are sorted by value, before texts.`);

export const UserListParameters = closedObject({
  search: Parameter.anyText(
    "Only users whose userId, e-mail address or trait `name` contains this text, in upper or lower case.",
  ),
  ...oneTrait("users", "trait"),
  ...namingFilters,
  ...userFilters,
  segment: inSegment("users"),
  excluded: Parameter.Enum(["leftOut", "only", "included"], {
    default: "leftOut",
    description:
      "Excluded users, whom exclusion rules match. leftOut: the list has no excluded users. only: the list has excluded users only. included: the list has all users.",
  }),
  since: since(28),
  sort: Parameter.Enum(
    [
      ...scoreSorts,
      ...billingSorts,
      "userId",
      "email",
      "name",
      "account",
      "owner",
      "firstIdentified",
      "trait",
    ],
    {
      default: "lastSeen",
      description: `${sortText} \`name\`: a user without a name is sorted by the e-mail address.`,
    },
  ),
  sortTrait: sortTrait("trait"),
  order: Parameter.order,
  ...Parameter.page,
});

export const UserListAnswer = Type.Object({
  ...listHead,
  usualChange,
  leadsWithRisk,
  billing: billingHead,
  total: Field.count("Users on all pages together."),
  users: listOf("As CSV: all rows that match, unless limit is sent.", {
    ...userFields,
    ...ownerFields,
    ...controlField,
    verdict: Verdict,
    ...listedScores,
    activityPosition,
    ...billingFields,
  }),
});

const accountFields = {
  accountId: Type.String(),
  name: Type.String(),
  avatar: nullable(Type.String()),
  createdAt: Field.instant("When the account was seen first."),
  members: Field.count("Users who belong to the account now, without excluded users."),
  activeMembers: Field.count(
    "Users with an engagement event in the account in the 28 days before the day of the scores (without scores: before today). Some may belong to another account now.",
  ),
  seats: nullable(
    Field.count(
      "Seats bought, as of the scores: the attribute `seats`, or else the quantities of its subscriptions, of which 1 means a flat price. Null if unknown.",
    ),
  ),
  seatsUsed: nullable(
    Field.number(
      "Seats used: account members active in the 28 days before the scores ÷ `seats`. May exceed 1. Null if `seats` is unknown.",
    ),
  ),
  pulse: nullable(
    Field.integer(
      "The pulse as of the scores, 1 to 5: the newest judgement of a team member, of the last 90 days and of the present owner. Null if there is none.",
    ),
  ),
  firstSeenDay: nullable(Field.day("The day of its members' first engagement event.")),
  lastSeenDay: nullable(Field.day("The day of its members' last engagement event.")),
  traits: Type.Record(Type.String(), Type.Unknown(), { description: "Attributes of the account." }),
};

export const AccountListParameters = closedObject({
  search: Parameter.anyText("Only accounts whose id or name contains this text, in upper or lower case."),
  ...oneTrait("accounts", "attribute"),
  ...accountFilters,
  segment: inSegment("accounts"),
  since: since(28),
  sort: Parameter.Enum(
    [
      ...scoreSorts,
      ...billingSorts,
      "accountId",
      "name",
      "owner",
      "members",
      "activeMembers",
      "seats",
      "seatsUsed",
      "pulse",
      "createdAt",
      "trait",
    ],
    {
      default: "lastSeen",
      description: sortText,
    },
  ),
  sortTrait: sortTrait("attribute"),
  order: Parameter.order,
  ...Parameter.page,
});

export const AccountListAnswer = Type.Object({
  ...listHead,
  usualChange,
  leadsWithRisk,
  billing: billingHead,
  total: Field.count("Accounts on all pages together."),
  accounts: listOf("As CSV: all rows that match, unless limit is sent.", {
    ...accountFields,
    ...ownerFields,
    ...controlField,
    verdict: Verdict,
    ...listedScores,
    activityPosition,
    ...billingFields,
  }),
});

export const AccountParameters = closedObject(Parameter.page);

export const AccountAnswer = Type.Object({
  ...accountFields,
  ...ownerFields,
  ...controlField,
  ...saidByPagesField,
  unknownOwner: Field.textOrNull(
    `The attribute \`owner\`, if it matches no team member. Otherwise null. ${ownerText}`,
  ),
  users: listOf("The account members without excluded users, the latest engagement event first.", {
    ...userFields,
    ...controlField,
  }),
});

export const TimelineParameters = closedObject({
  limit: Parameter.page.limit,
  event: Parameter.anyText("Only events with exactly this name; empty for all."),
  before: beforeParameter,
});

const eventFields = {
  id: Field.text("The event's own id."),
  event: Type.String(),
  label: eventLabel,
  isActivity: Field.boolean(
    "False: a connected source marked the event as no activity, and it counts in no figure.",
  ),
  timestamp: Field.instant("When it happened."),
  receivedAt: Field.instant("When it was received."),
  properties: Type.Record(Type.String(), Type.Unknown()),
};

const timelineFields = {
  ...eventFields,
  kind: Field.oneOf(
    timelineKinds,
    "An event, an alert, a note, a task that was added, a task that was done, or a pulse that counts or was replaced. All but events have their kind as `event`, a number as `id` and their fields as `properties`. The parameter `event` leaves them out.",
  ),
};

const next = Field.textOrNull("Send it as `before` to get older events. Null on the last page.");

export const TimelineAnswer = Type.Object({
  events: listOf("The newest first.", timelineFields),
  next,
});

const userLabelText = "The user's name, else e-mail address, else id.";
const eventOfUser = {
  ...eventFields,
  userId: Field.text("User of the event."),
  userLabel: Field.text(userLabelText),
};

export const LatestEventAnswer = Type.Object({
  event: objectOrNull(
    "The latest event that counts as activity, of any user who is not excluded. Null before the first event.",
    eventOfUser,
  ),
});

export const AccountTimelineAnswer = Type.Object({
  events: listOf(
    "Events of users who belonged to the account when they were received, and the account's own notes, tasks and pulses. The newest first.",
    {
      ...timelineFields,
      userId: Field.textOrNull("User of the event; null for a note or a task of the account."),
      userLabel: Field.textOrNull(userLabelText),
    },
  ),
  next,
});
