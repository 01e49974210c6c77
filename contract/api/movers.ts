/** The part of the JSON API about those whose health moved most, as JSON Schema. */
import Type from "typebox";
import { count, day, nullable } from "./api.ts";
import { sinceThen } from "./marks.ts";
import { dataStoppedSince, Listed, scoredDay, sinceText } from "./scores.ts";
import { State } from "./states.ts";

export const MoversParameters = Type.Object(
  {
    kind: Type.Union([Type.Literal("user"), Type.Literal("account")], { default: "user" }),
    state: Type.Optional(State),
    since: Type.Optional(day(`${sinceText} Without it, of 7 days before.`)),
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 10, description: "Of each direction." }),
  },
  { additionalProperties: false },
);

const Mover = Type.Object({
  ...Listed.properties,
  accountId: nullable(Type.String({ description: "Of a user; null without an account." })),
  accountName: nullable(Type.String()),
  reason: Type.String({
    description: "What was done before and after, in words: active on 3 of 28 days, was 14.",
  }),
});

export const MoversAnswer = Type.Object({
  day: scoredDay,
  ...sinceThen,
  dataStoppedSince,
  movers: Type.Array(Mover, {
    description:
      "Those whose health rose, the most first, then those whose fell, the most first. Those who returned from churned are not among them.",
  }),
  returned: Type.Array(Mover, {
    description: "Those who had churned at the earlier scores and have not now, whatever their state.",
  }),
  totals: Type.Object(
    {
      fell: count("Health fell."),
      rose: count("Health rose."),
      returned: count("They returned from churned."),
    },
    { description: "How many there are, shown or not." },
  ),
});
