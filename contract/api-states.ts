/** The words that scores are told in, as JSON Schema. */
import Type from "typebox";

/** Where somebody stands. */
export const State = Type.Enum(["no_data", "churned", "new", "active"]);
/** Of health. */
export const Colour = Type.Enum(["healthy", "watch", "at_risk", "onboarding", "churned", "none"]);
export const Band = Type.Union([Type.Literal("low"), Type.Literal("medium"), Type.Literal("high")], {
  description: "Of the churn risk: below .2, below .5, and above.",
});
