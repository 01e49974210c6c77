/** What the JSON API says of a churn: by what, when and why. As JSON Schema. */
import Type from "typebox";
import { day, nullable } from "./api.ts";

/** The churn event of an organization. */
export const churnEvent = nullable(Type.String(), {
  description: "An entity that sends it has churned, unless it is active on a later day. Null without one.",
});

/** Of one user or account. */
export const churnFields = {
  returnProbability: nullable(
    Type.Number({
      description:
        "For entities that churned by silence: of coming back within the horizon, by BG/BB. Null beyond 26 weeks of silence.",
    }),
  ),
  churnedDay: nullable(
    day("For the churned: the day of the churn event, or the day on which the horizon of silence was over."),
  ),
  churnCause: nullable(
    Type.Object({
      by: Type.Enum(["event", "silence"]),
      event: nullable(Type.String(), { description: "The churn event; null with `silence`." }),
      member: nullable(
        Type.Object({
          userId: Type.String(),
          label: Type.String({ description: "The name, else the e-mail address, else the id." }),
        }),
        {
          description: "Of an account: the member who sent the churn event, unless erased or excluded since.",
        },
      ),
    }),
    { description: "For the churned: why." },
  ),
};
