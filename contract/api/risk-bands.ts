/** Risk bands that an organization sets: from which churn risks on a user or an account is of medium and of
 * high risk. */
import Type, { type Static } from "typebox";
import { closedObject, nullable } from "./schema.ts";

const risk = (description: string) =>
  Type.Number({
    exclusiveMinimum: 0,
    exclusiveMaximum: 1,
    description,
    "x-send": "a churn risk between 0 and 1",
  });

/** The bounds of one kind. */
export const RiskBounds = closedObject(
  {
    medium: risk("The lowest churn risk of the band `medium`."),
    high: risk("The lowest churn risk of the band `high`. It has to be above `medium`."),
  },
  { "x-send": "an object with medium and high, or null" },
);

export type RiskBounds = Static<typeof RiskBounds>;

const ofKind = (whose: string) =>
  nullable(RiskBounds, {
    description: `The bounds of ${whose}. Null: the default, by the odds of the base rate.`,
    "x-send": "an object with medium and high, or null",
  });

/** Bounds of users and of accounts. */
export const riskBandsOfKinds = { user: ofKind("users"), account: ofKind("accounts") } as const;

export const riskBandsOptions = {
  additionalProperties: false,
  description:
    "Bounds of the risk bands of users and of accounts. Without bounds of your own, `high` begins at 5 times the odds of the base rate and `medium` at 2 times.",
  "x-send": "an object with user, account or both, each an object with medium and high, or null",
} as const;
