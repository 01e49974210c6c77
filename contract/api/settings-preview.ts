/** The answer about a change of settings before it is saved. */
import Type from "typebox";
import { SettingChange } from "../settings.ts";
import { Field, listOf, nullable, objectOrNull } from "./schema.ts";
import { HealthBand, Kind, RiskBand, State } from "./score-parts.ts";

const metric = (description: string) => nullable(Field.number(description));

const proof = Type.Object({
  horizonDays: Type.Integer(),
  cutoffs: Field.count("Cut-off dates of the back-test, at most 12."),
  count: Field.count("Predictions that were judged."),
  departures: Field.count(
    "Predictions of users or accounts that churned. Churn within several cut-off dates closer than the horizon counts once.",
  ),
  baseRate: metric("The share that churned."),
  auc: metric(
    "AUC: the probability that a user or account that churned had a higher risk than a user or account that stayed. Null without both.",
  ),
  logLoss: metric("The log loss of the model. Null if no model is good enough for this horizon."),
  skill: metric(
    "1 − the model's log loss ÷ the log loss of always predicting the base rate. It can be compared between horizons.",
  ),
});

export const SettingsPreviewAnswer = Type.Object({
  version: Field.integer("The current version."),
  changes: Type.Array(SettingChange, { description: "The differences that saving would make." }),
  uncounted: Type.Array(Type.String(), {
    description:
      "Changed settings whose effect on bands is not counted, because scores would have to be computed first.",
  }),
  kinds: listOf("Users, then accounts.", {
    kind: Kind,
    day: nullable(Field.day("The day of the scores that are compared. Null before the first scores.")),
    entities: Field.count("Users or accounts with scores."),
    healthChanged: Field.count("Users or accounts that would have another health band."),
    riskChanged: Field.count("Users or accounts that would have another risk band."),
    health: listOf("Moves between health bands, the most frequent first.", {
      from: HealthBand,
      to: HealthBand,
      count: Field.count("Users or accounts."),
    }),
    risk: listOf(
      "Moves between risk bands, the most frequent first. `from` and `to` are null without a churn risk.",
      {
        from: nullable(RiskBand),
        to: nullable(RiskBand),
        count: Field.count("Users or accounts."),
      },
    ),
    pastHealth: objectOrNull(
      "Whether health would have predicted churn better, by stored scores whose horizon is over. Null if the parts of health and their weights stay.",
      {
        cutoffs: Field.count("Days of scores that were judged: at most 6, a horizon apart."),
        count: Field.count("Scores that were judged: at most 8,000 of a day."),
        departures: Field.count("Judged scores of users or accounts that churned."),
        aucBefore: metric(
          "AUC: the probability that a user or account that stayed had better health than a user or account that churned, with the current settings. Null without both.",
        ),
        aucAfter: metric("The probability of `aucBefore`, with the changed settings."),
        differenceLow: metric(
          "Lower end of the 95 % interval of aucAfter − aucBefore (DeLong 1988). If 0 is in the interval, neither is better. Null without two of each outcome.",
        ),
        differenceHigh: metric("Upper end of the 95 % interval of aucAfter − aucBefore."),
      },
    ),
    definition: objectOrNull(
      "What another churn target or horizon would mean. Null if both stay. Stored scores of past days are not computed again.",
      {
        departuresBefore: Field.count(
          "Users or accounts that churned in the 365 days before the scores, each counted once. With the target `subscription`, without users or accounts that pay again.",
        ),
        departuresAfter: Field.count(
          "Users or accounts that churned in these 365 days by the changed settings.",
        ),
        stateChanged: Field.count("Users or accounts that would have another state."),
        states: listOf("Moves between states, the most frequent first.", {
          from: State,
          to: State,
          count: Field.count("Users or accounts."),
        }),
      },
    ),
    horizons: objectOrNull(
      "Back-tests of the churn risk with the current and the changed horizon, as a training runs them. Null if the horizon stays.",
      { before: proof, after: proof },
    ),
  }),
});
