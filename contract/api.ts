/**
 * The JSON API as JSON Schema: parameters and answers of everything under /api. The server checks parameters
 * with these schemas, types answers by them, and prints them in the OpenAPI document.
 */
import Type from "typebox";

const day = (description: string) => Type.String({ format: "date", description });
const instant = (description: string) => Type.String({ format: "date-time", description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const nullable = <T extends Type.TSchema>(schema: T, options: Type.TSchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);

export const NoParameters = Type.Object({}, { additionalProperties: false });

export const UserAnswer = Type.Object({
  userId: Type.String(),
  email: Type.String(),
  traits: Type.Record(Type.String(), Type.Unknown()),
  isAccountOwner: nullable(Type.Boolean()),
  account: nullable(Type.Object({ id: Type.String(), name: Type.String(), avatar: nullable(Type.String()) })),
  firstIdentifiedAt: instant("When the user was identified first."),
  updatedAt: instant("When something about the user changed last."),
  firstSeenDay: nullable(day("The day of the user's first event.")),
  lastSeenDay: nullable(day("The day of the user's last event.")),
});

/** The receipt for an erasure. */
export const ErasureAnswer = Type.Object({
  userId: Type.String(),
  erasedAt: instant("When nothing was left."),
  events: count("Events that were erased."),
  versions: count("Versions of the user's traits that were erased."),
  deadLetters: count("Rows that had not been taken by the warehouse."),
  inboxRows: count("Rows that were still kept on their way to the warehouse."),
  days: count("Days whose figures were computed again without the user."),
  seconds: Type.Number({ minimum: 0, description: "From the request to the end." }),
});

export const TimelineParameters = Type.Object(
  { limit: Type.Integer({ minimum: 1, maximum: 1_000, default: 100, description: "At most this many." }) },
  { additionalProperties: false },
);

export const TimelineAnswer = Type.Object({
  events: Type.Array(
    Type.Object({
      id: Type.String({ description: "The event's own id." }),
      event: Type.String(),
      timestamp: instant("When it happened."),
      receivedAt: instant("When it was received."),
      properties: Type.Record(Type.String(), Type.Unknown()),
    }),
    { description: "The newest first." },
  ),
});

export const ActiveUsersParameters = Type.Object(
  {
    days: Type.Integer({
      minimum: 1,
      maximum: 400,
      default: 30,
      description: "This many days, the last of them today in the organization's timezone.",
    }),
  },
  { additionalProperties: false },
);

export const ActiveUsersAnswer = Type.Object({
  days: Type.Array(
    Type.Object({
      day: day("In the organization's timezone."),
      daily: count("Users who did anything on this day."),
      weekly: count("Users who did anything within the 7 days that end with this one."),
      monthly: count("Users who did anything within the 30 days that end with this one."),
    }),
  ),
});
