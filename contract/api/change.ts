/** How the scores of a user or an account changed, as JSON Schema. */
import Type from "typebox";
import { day, nullable } from "./api.ts";

const number = (description: string) => Type.Number({ description });

const Change = Type.Object({
  total: Type.Number(),
  behaviour: number("More or less use than on the earlier day. Silence is less use."),
  time: number("The change of an entity that goes on as before: only its tenure grows."),
  settings: number("Settings, who is excluded, the month's scale, or the model."),
});

export const ScoreChange = nullable(
  Type.Object({
    sinceDay: day("The day of the earlier scores."),
    health: nullable(Change),
    engagement: nullable(Change),
    risk: nullable(Change),
    text: nullable(Type.String(), {
      description:
        "The change of health in words: Down 13: active on 1 day of 28, was 6; silent for 24 days.",
    }),
  }),
);
