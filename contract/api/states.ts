/** The words that scores are told in, as JSON Schema. */
import Type from "typebox";

/** Where somebody stands. */
export const State = Type.Enum(["no_data", "churned", "new", "active"]);
/** How somebody is doing, in one word. */
export const Verdict = Type.Enum(
  ["churned", "account_churned", "high_risk", "at_risk", "new", "watch", "healthy", "no_score"],
  {
    description:
      "The first that holds. `churned`. `account_churned`: the account of this user has churned. `high_risk`: churn risk from .5. `at_risk`: health below 40. `new`: first seen under 14 days ago. `watch`: health below 70, or churn risk from .2. `healthy`. `no_score`.",
  },
);
/** Of health. */
export const HealthBand = Type.Enum(["healthy", "watch", "at_risk", "onboarding", "churned", "none"]);
export const RiskBand = Type.Union([Type.Literal("low"), Type.Literal("medium"), Type.Literal("high")], {
  description: "Of the churn risk: below .2, below .5, and above.",
});
