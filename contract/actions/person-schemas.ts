/** Everything about a person, as JSON Schema. */
import Type from "typebox";
import { Field, nullable } from "../api/schema.ts";

const rows = (description: string) => Type.Array(Type.Record(Type.String(), Type.Unknown()), { description });

export const EverythingAnswer = Type.Object(
  {
    userId: Type.String(),
    exportedAt: Field.instant("When it was read."),
    identity: nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: "The user, with traits and account. Null for an id that was never identified.",
    }),
    linkedIds: rows("Other ids of the person: a visitor's, or a user's that was never identified."),
    heldEvents: rows("Events that wait until the person is identified."),
    ingestionWarnings: rows("Problems of requests that name the person."),
    exclusions: rows("Rules that exclude exactly this person from figures."),
    accounts: Type.Optional(rows("Accounts that the user belonged to, or whose events they did, by number.")),
    versions: Type.Optional(rows("Traits and account by time.")),
    events: Type.Optional(rows("Every event with its properties, contacts among them. The oldest first.")),
    billingEvents: Type.Optional(rows("Reports of billing tools. They stay when raw events are deleted.")),
    subscriptions: Type.Optional(rows("Changes of subscriptions that the user pays for.")),
    eventsByDay: Type.Optional(rows("Counts of events by day. They stay when raw events are deleted.")),
    activeSpan: Type.Optional(rows("The first and the last day of activity.")),
    scores: Type.Optional(rows("Scores of each day, with the features behind them.")),
    scoreShifts: Type.Optional(
      rows("By how much another model, scale or settings changed the scores of each day."),
    ),
    features: Type.Optional(rows("Features of days, from which scores are computed.")),
    segmentChanges: Type.Optional(
      rows(
        "When the user entered and left segments, by the segment's id. With the cause `first` they were in it when it was evaluated first.",
      ),
    ),
    notes: rows("Notes of team members."),
    tasks: rows("Tasks of team members."),
    segments: rows("Fixed segments that have the user."),
    alerts: rows("Alerts of rules about the user, those of controls among them, as in the export of alerts."),
    alertStates: rows(
      "States that alert rules keep of the user: when they fired, until when they rest, the last value.",
    ),
    calls: rows("What team members said about the user's row of the call list: a snooze or a verdict."),
    holdOutEntries: rows("The user's entries into hold-outs, each with the arm that was drawn."),
    messages: rows(
      "Messages to destinations that name the user: sent in the last 30 days, or waiting. The content has no line about others.",
    ),
    rejectedEvents: rows("Rows that the warehouse refused."),
    auditLog: rows("Changes by team members that name the user, by number."),
  },
  { description: "Sections without a user are missing for an id that was never identified." },
);
