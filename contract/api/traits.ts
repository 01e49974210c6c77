/** The question which traits users have, as JSON Schema: what can be split and filtered by. */
import Type from "typebox";
import { count, nullable } from "./api.ts";

/** Traits with more values than this are not told value by value: they name users and split nobody. */
export const maxCountedValues = 100;

export const TraitsParameters = Type.Object(
  {
    limit: Type.Integer({
      minimum: 1,
      maximum: 200,
      default: 100,
      description: "At most this many traits, those of the most users.",
    }),
  },
  { additionalProperties: false },
);

export const TraitsAnswer = Type.Object({
  traits: Type.Array(
    Type.Object({
      trait: Type.String(),
      users: count("Users who have it now; null is no value."),
      distinctValues: nullable(Type.Integer(), {
        description: `How many different values it has now; null when they are more than ${maxCountedValues}.`,
      }),
      values: Type.Array(Type.Object({ value: Type.String(), users: count("Who have it now.") }), {
        description: `The 20 values that most users have, as text; none when they are more than ${maxCountedValues}.`,
      }),
    }),
    { description: "Those of the most users first." },
  ),
});
