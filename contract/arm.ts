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
  arm: Field.oneOf(["treated", "control"], "`control`: do not show the offer. `treated`: show it."),
  counted: Field.boolean(
    "Whether the user or account is part of the experiment. False if the rule is paused or has no control group, or if the user or account is outside its scope, excluded or exempt. Then the arm is treated, and nothing is stored.",
  ),
  experiment: Type.Integer({
    minimum: 1,
    description:
      "The number of the experiment. A change of condition, scope, share or churn horizon begins the next one.",
  }),
  until: nullable(Field.day("The last day as a control. Null for the arm treated.")),
});

export type ArmAnswer = Static<typeof ArmAnswer>;
