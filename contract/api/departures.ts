/** Events that may mean that users have left, as JSON Schema. */
import Type from "typebox";
import { count, eventLabel } from "./api.ts";

export const DeparturesAnswer = Type.Object({
  events: Type.Array(
    Type.Object({
      event: Type.String(),
      label: eventLabel,
      users: count("Users who sent it, without those who are excluded from figures."),
      isPassive: Type.Boolean({
        description:
          "Whether it counts as no activity until there is an answer: its name is that of a departure, as `subscription_canceled`. Other names with `cancel` are only asked about.",
      }),
    }),
    {
      description:
        "Events that no setting explains yet. Answer with `churnEvent`, `passiveEvents` or `ordinaryEvents`. Most users first, at most 20.",
    },
  ),
});
