/**
 * The JSON API as JSON Schema: parameters and answers of everything under /api. The server checks parameters
 * with these schemas, types answers by them, and prints them in the OpenAPI document.
 */
import Type from "typebox";

/** A date. */
export const day = (description: string) => Type.String({ format: "date", description });
/** A date-time in UTC. */
export const instant = (description: string) => Type.String({ format: "date-time", description });
/** A number of people, events or rows. */
export const count = (description: string) => Type.Integer({ minimum: 0, description });

/** The schema or null. */
export const nullable = <T extends Type.TSchema>(schema: T, options: Type.TSchemaOptions = {}) =>
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

export const RetentionAnswer = Type.Object({
  cells: Type.Array(
    Type.Object({
      cohortDay: day("The Monday with which the week of the cohort's first events begins."),
      cohortUsers: count("Users of the cohort."),
      week: count("Weeks after the cohort's own."),
      activeUsers: count("Users of the cohort who did anything in that week."),
    }),
    { description: "A week without any active user has no cell." },
  ),
});
