/** Everything about a person, as JSON Schema. */
import Type from "typebox";
import { Field, nullable } from "./schema.ts";

const rows = (description: string) => Type.Array(Type.Record(Type.String(), Type.Unknown()), { description });

export const EverythingAnswer = Type.Object(
  {
    userId: Type.String(),
    exportedAt: Field.instant("When it was read."),
    identity: nullable(Type.Record(Type.String(), Type.Unknown()), {
      description: "The user, with traits and account. Null for an id that was never identified.",
    }),
    linkedIds: rows(
      "Other ids of the person: of an unidentified visitor, or of a user who was never identified.",
    ),
    heldEvents: rows("Events that wait until the person is identified."),
    ingestionWarnings: rows("Problems of requests that name the person."),
    exclusions: rows("Rules that exclude exactly this person from figures."),
    accounts: Type.Optional(
      rows("Accounts that the user belonged to, or was active in, by internal number."),
    ),
    versions: Type.Optional(rows("Earlier and current traits and accounts, by time.")),
    events: Type.Optional(rows("Every event with its properties, contacts among them. The oldest first.")),
    billingEvents: Type.Optional(rows("Billing events. They stay when raw events are deleted.")),
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
        "When the user entered and left segments, by the segment's id. Cause `first`: the user was a member when the segment was first evaluated.",
      ),
    ),
    notes: rows("Notes of team members."),
    tasks: rows("Tasks of team members."),
    segments: rows("Fixed segments that contain the user."),
    alerts: rows("Alerts about the user, including alerts of a control group, as in the export of alerts."),
    alertStates: rows(
      "What alert rules remember about the user: when they fired, the end of the cooldown, the last value.",
    ),
    calls: rows("Snoozes and verdicts of team members on the user's row of the call list."),
    verdicts: rows(
      "What team members said of the user's alerts and call, each time, with the outcome and the note.",
    ),
    holdOutEntries: rows("The user's draws in hold-outs, each with its arm: treated, control or exempt."),
    messages: rows(
      "Messages to destinations that name the user: sent in the last 30 days, or waiting. Lines about other users are left out.",
    ),
    rejectedEvents: rows("Rows about the user that the warehouse rejected."),
    auditLog: rows("Changes by team members that name the user by internal number."),
  },
  { description: "For an id that was never identified, sections that need a user are left out." },
);
