/** `POST /arm`: a company's server asks for the arm of a user or an account, before its page shows an
 * offer. */
import Type, { type Static } from "typebox";
import { Field, nullable } from "./api/schema.ts";
import { identifier } from "./write-api.ts";

export const ArmBody = Type.Object(
  {
    rule: Type.Integer({
      minimum: 1,
      description: "The id of an alert rule about an event.",
      "x-send": "the id of an alert rule, a whole number",
    }),
    userId: Type.Optional(
      identifier(
        "A user who has been identified. Under a rule about accounts, the user's account is asked for.",
      ),
    ),
    accountId: Type.Optional(identifier("An account, under a rule about accounts.")),
  },
  { "x-send": "a JSON object with rule, and userId or accountId" },
);

export const ArmAnswer = Type.Object({
  arm: Field.oneOf(
    ["treated", "control"],
    "`control`: show nothing, and change nothing else. `treated`: go ahead.",
  ),
  counted: Field.boolean(
    "Whether it is an entry of the experiment. False under a paused rule or one without a control group, outside its scope, excluded or exempt: then the arm is treated, and nothing is stored.",
  ),
  experiment: Type.Integer({
    minimum: 1,
    description:
      "The experiment of the rule. Another condition, scope, share or churn horizon begins the next one.",
  }),
  until: nullable(Field.day("The last day on which a control is left alone. Null for the arm treated.")),
});

export type ArmAnswer = Static<typeof ArmAnswer>;
