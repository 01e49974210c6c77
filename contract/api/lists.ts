/** The JSON API's users and accounts, as lists and one by one, as JSON Schema: parameters and answers. */
import Type from "typebox";
import { timelineKinds } from "../actions/work.ts";
import { beforeParameter, ownerFields, ownerFilter, ownerText } from "../actions/work-schemas.ts";
import { billingFields, billingFilters, billingHead, billingSorts } from "../billing/payers.ts";
import { eventLabel } from "./api.ts";
import { closedObject, Field, listOf, nullable, objectOrNull, Parameter } from "./schema.ts";
import { HealthBand, RiskBand, State, since, Verdict } from "./score-parts.ts";
import { activityPosition, listedScores, listHead } from "./scores.ts";

const flag = (description: string) => Type.Optional(Field.boolean(description));

/** Which accounts and users are to be called: said wherever it is used. */
export const toCallText =
  "To be called: not churned, by event or by silence, and either the risk band is high or health fell by 15 points or more against the scores of 7 days before the newest.";

/** How health went since the earlier scores. */
const moves = ["changed", "worse", "better", "fell", "rose", "churned", "returned"] as const;

/** By how scores went: the same for users and accounts. */
const movementFilters = {
  isPresent: flag("True: only those who have a health score and have not churned. False: only the others."),
  healthBandBefore: Type.Optional(
    Field.oneOf(
      [...HealthBand.enum, "present"],
      "Only those whose health had this health band in the scores that changes are told against (`since`). `present` is any but churned and none.",
    ),
  ),
  moved: Type.Optional(
    Field.oneOf(
      moves,
      "Only those whose health went this way since the earlier scores. `changed`: to another band. `worse`, `better`: from at_risk, watch or healthy to a lower or a higher one of them. `fell`, `rose`: the score, of those who are active and had not churned. `churned`, `returned`: to churned, and from churned.",
    ),
  ),
  toCall: flag(`True: only those who are to be called. False: only the others. ${toCallText}`),
} as const;

/** The weeks of a lifecycle: of the days from `activeFrom` to `activeTo`, and the 7 days before them. */
const stages = ["new", "returning", "resurrected", "dormant"] as const;

/** By what was done on which days: of users. Excluded users count in no figure, so these filters leave them out. */
const activityFilters = {
  activeFrom: Parameter.optionalDay(
    "Only users with an engagement event on this day or later, up to `activeTo`; send both.",
  ),
  activeTo: Parameter.optionalDay("The last of these days."),
  lifecycle: Type.Optional(
    Field.oneOf(
      stages,
      "With activeFrom and activeTo, of their users: `new` had their first engagement event ever on these days, `returning` were active in the 7 days before as well, `resurrected` earlier only. `dormant` were active in the 7 days before and not on these days.",
    ),
  ),
  activeInAccount: Parameter.optionalName(
    "With activeFrom and activeTo: only users with such an event that carries the account with this id. They may belong to another one now.",
  ),
} as const;

const daysOf = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650, description }));

/** Filters by scores and by the last active day: the same for users and accounts. */
const scoreFilters = {
  verdict: Type.Optional(
    Type.Union([Verdict, Type.Literal("not_churned")], {
      description: "`not_churned`: all but `churned` and `account_churned`.",
    }),
  ),
  state: Type.Optional(State),
  healthBand: Type.Optional(HealthBand),
  riskBand: Type.Optional(RiskBand),
  seenWithinDays: daysOf("Only those with an engagement event within so many days that end today."),
  notSeenForDays: daysOf("Only those without any engagement event within so many days that end today."),
  since: since(28),
  ...movementFilters,
};

const scoreSorts = ["lastSeen", "firstSeen", "health", "risk", "engagement", "momentum", "change"] as const;

const sortText =
  "Rows that lack it come last. Of rows with the same score, or with none, the one seen last comes first. The pages begin with `risk`, highest first: rows without a churn risk (churned, or not scored yet) come last, by the day on which they were last seen.";

/** Beside lists with scores. */
const usualChange = nullable(Type.Number(), {
  description:
    "Points by which health usually changes in a week: two of three changes were smaller, in the four weeks before the scores, of all who had a health and had not churned on both days. Null with fewer than 30 such changes.",
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

/** Each is looked for in the traits of every user. */
const maxTraitFilters = 8;

/** How a trait is compared. */
const traitMatches = ["is", "isNot", "contains", "isEmpty", "isNotEmpty"] as const;

/** By traits of users, or by attributes of accounts. */
const traitFilters = (what: "users" | "accounts", trait: "trait" | "attribute") => ({
  trait: Parameter.optionalName(`Only ${what} whose ${trait} of this name …`),
  match: Parameter.Enum([...traitMatches], {
    default: "is",
    description: `… is the value, is not (also without the ${trait}), contains it whatever the case, is absent or empty, or is there.`,
  }),
  value: Type.Optional(
    Type.String({
      maxLength: 256,
      description: "The value; what is no string is compared as its JSON, cut off after 256 characters.",
    }),
  ),
  traits: Type.Optional(
    Type.Array(
      closedObject({
        trait: Type.String({ minLength: 1, maxLength: 256 }),
        match: Type.Optional(Type.Enum([...traitMatches])),
        value: Type.Optional(Type.String({ maxLength: 256 })),
      }),
      {
        maxItems: maxTraitFilters,
        description: `Several ${trait}s at once, as JSON, each as above: only ${what} of whom all are true.`,
      },
    ),
  ),
});

/** With `sort=trait`. */
const sortTrait = (trait: "trait" | "attribute") =>
  Parameter.optionalName(`With sort=trait: the ${trait}'s name. Numbers come by their size, before texts.`);

export const UserListParameters = closedObject({
  search: Parameter.anyText("A text in userId, email or the trait `name`, whatever the case."),
  ...traitFilters("users", "trait"),
  account: Parameter.optionalName("Only users of the account with this id."),
  excluded: Parameter.Enum(["leftOut", "only", "included"], {
    default: "leftOut",
    description:
      "Users whom exclusion rules match. leftOut: they are not in the list. only: the list has no others. included: they are among the others.",
  }),
  ...scoreFilters,
  ...activityFilters,
  ...billingFilters,
  owner: ownerFilter,
  sort: Parameter.Enum(
    [
      ...[...scoreSorts, ...billingSorts],
      ...(["userId", "email", "name", "account", "owner", "firstIdentified", "trait"] as const),
    ],
    {
      default: "lastSeen",
      description: `${sortText} \`name\` is the e-mail of a user without one.`,
    },
  ),
  sortTrait: sortTrait("trait"),
  order: Parameter.order,
  ...Parameter.page,
});

export const UserListAnswer = Type.Object({
  ...listHead,
  usualChange,
  billing: billingHead,
  total: Field.count("Users on all pages together."),
  users: listOf("As CSV: all that match, unless limit is sent.", {
    ...userFields,
    ...ownerFields,
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
  members: Field.count("Users who belong to it now, without those who are excluded from figures."),
  activeMembers: Field.count(
    "Users with an engagement event that carries the account in the 28 days before the day of the scores, or before today without scores. Some may belong to another account now.",
  ),
  firstSeenDay: nullable(Field.day("The day of its members' first engagement event.")),
  lastSeenDay: nullable(Field.day("The day of its members' last engagement event.")),
  traits: Type.Record(Type.String(), Type.Unknown(), { description: "Attributes of the account." }),
};

export const AccountListParameters = closedObject({
  search: Parameter.anyText("A text in id or name, whatever the case."),
  ...traitFilters("accounts", "attribute"),
  ...scoreFilters,
  ...billingFilters,
  owner: ownerFilter,
  sort: Parameter.Enum(
    [
      ...[...scoreSorts, ...billingSorts],
      ...(["accountId", "name", "owner", "members", "activeMembers", "createdAt", "trait"] as const),
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
  billing: billingHead,
  total: Field.count("Accounts on all pages together."),
  accounts: listOf("As CSV: all that match, unless limit is sent.", {
    ...accountFields,
    ...ownerFields,
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
  unknownOwner: Field.textOrNull(`The attribute \`owner\`, where it means no team member. ${ownerText}`),
  users: listOf("Its members without excluded users, the last engagement event first.", userFields),
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
  isActivity: Field.boolean("False: a connected source said that it is none, and it counts for no figure."),
  timestamp: Field.instant("When it happened."),
  receivedAt: Field.instant("When it was received."),
  properties: Type.Record(Type.String(), Type.Unknown()),
};

const timelineFields = {
  ...eventFields,
  kind: Field.oneOf(
    timelineKinds,
    "An event; or a note, a task that was added, or a task that was done. These have `kind` as their event, a number as id, and their fields as properties. They are left out when one event is asked for.",
  ),
};

const next = Field.textOrNull("To be sent as `before` for older events; null at the end.");

export const TimelineAnswer = Type.Object({
  events: listOf("The newest first.", timelineFields),
  next,
});

const userLabelText = "Their name, else their e-mail address, else their id.";
const eventOfUser = {
  ...eventFields,
  userId: Field.text("User of the event."),
  userLabel: Field.text(userLabelText),
};

export const LatestEventAnswer = Type.Object({
  event: objectOrNull(
    "The last event that counts as activity, of any user who counts in figures; of several at one time any. Null before the first.",
    eventOfUser,
  ),
});

export const AccountTimelineAnswer = Type.Object({
  events: listOf(
    "Events of users who belonged to the account when they were received, and the account's own notes and tasks. The newest first.",
    {
      ...timelineFields,
      userId: Field.textOrNull("User of the event; null for a note or a task of the account."),
      userLabel: Field.textOrNull(userLabelText),
    },
  ),
  next,
});
