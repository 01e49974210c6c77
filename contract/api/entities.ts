/** Figures of one user or account beside its scores, as JSON Schema: parameters and answers. */
import Type from "typebox";
import { eventLabel } from "./api.ts";
import { controlField } from "./list-fields.ts";
import { closedObject, Field, listOf, nullable, objects, Parameter } from "./schema.ts";
import { HealthBand, kindParameter, RiskBand, ratioToBaseRate, State, Verdict } from "./score-parts.ts";
import { RiskModelName, riskModelText } from "./scores.ts";

const score = (description: string) => nullable(Field.number(description));

export const ActivityParameters = closedObject({
  days: Parameter.positive(3_660, 365, "This many days, which end with `to`."),
  to: Parameter.optionalDay("The last day, not after today. Default: today in the organization's timezone."),
});

const activityDay = {
  day: Field.day("The day in the organization's timezone."),
  events: Field.count("Events of this day, including passive events."),
};

export const UserActivityAnswer = Type.Object({
  days: listOf("Every day, the oldest first.", activityDay),
});

export const AccountActivityAnswer = Type.Object({
  days: listOf("Every day, the oldest first. Excluded users do not count.", {
    ...activityDay,
    users: Field.count("Users who were active in the account on this day."),
  }),
});

export const OwnEventsParameters = closedObject({
  kinds: Parameter.Enum(["activity", "all"], {
    default: "activity",
    description:
      "activity: events that count in figures. all: also events that are no activity, e.g. billing events.",
  }),
  limit: Parameter.positive(1_000, 1_000, "At most this many names."),
});

const ownEvent = {
  event: Type.String(),
  label: eventLabel,
  count: Field.count("How often the event happened until today."),
  firstDay: Field.day("The first day of the event, in the organization's timezone."),
  lastDay: Field.day("The last day of the event, in the organization's timezone."),
};

export const UserEventsAnswer = Type.Object({
  events: listOf("The most frequent event first.", ownEvent),
});

export const AccountEventsAnswer = Type.Object({
  events: listOf("The most frequent event first. Excluded users do not count.", {
    ...ownEvent,
    users: Field.count("Users who did the event in the account."),
  }),
});

export const AccountMembersParameters = closedObject({
  sort: Parameter.Enum(["share", "lastActive", "health", "risk", "email"], { default: "share" }),
  order: Parameter.order,
  ...Parameter.page,
});

export const AccountMembersAnswer = Type.Object({
  day: Field.day("The day of the account's newest scores. Activity is counted before the start of this day."),
  total: Field.count("Account members on all pages together."),
  active28: Field.count("Account members with an engagement event in the account within 28 days."),
  active90: Field.count("Account members with an engagement event in the account within 90 days."),
  activeShare: nullable(Field.share("active28 ÷ active90. Null if nobody was active in 90 days.")),
  topShare: nullable(Field.share("The largest `share` of a member. Null if nothing was done in 28 days.")),
  activeDays28: nullable(
    Field.count("Days of the last 28 on which any member was active in the account. Null without scores."),
  ),
  isInUse: Field.boolean(
    "Whether there is enough use for shares of members to mean something: the account has not churned, and was active on 7 of the last 28 days and within the last 14. Without scores: whether anybody was active in 28 days.",
  ),
  members: objects({
    userId: Type.String(),
    email: Field.textOrNull("Null until it is known."),
    name: Field.textOrNull("The trait `name`, if it is a text."),
    avatar: Field.textOrNull("The trait `avatar`, if it is a text."),
    ...controlField,
    isAccountOwner: nullable(Type.Boolean()),
    isMember: Field.boolean(
      "False for a user who was active in the account within 90 days and belongs to another account now.",
    ),
    lastActiveDay: nullable(
      Field.day(
        "The day of the last engagement event in the account. Null if there was none within 90 days.",
      ),
    ),
    activeDays28: Field.count("Days of the last 28 with an engagement event in the account."),
    share: nullable(
      Field.share(
        "The member's share of what all members did in 28 days, weighted like the engagement score. Null if nothing was done.",
      ),
    ),
    verdict: Verdict,
    state: State,
    healthBand: HealthBand,
    health: score("The user's own, 0 to 100."),
    engagement: score("The user's own, 0 to 100."),
    risk: score("The user's own churn risk, 0 to 1."),
    riskBand: nullable(RiskBand),
    ratioToBaseRate,
  }),
});

export const ModelChangesParameters = closedObject({ kind: kindParameter });

export const ModelChangesAnswer = Type.Object({
  changes: listOf("The oldest first. The weekly training of the same model is no change.", {
    day: Field.day("The first scored day on which the model serves."),
    from: nullable(RiskModelName, { description: "The model of the scored day before. Null: no model." }),
    to: nullable(RiskModelName, { description: riskModelText }),
    why: Type.String(),
  }),
});
