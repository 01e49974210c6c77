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
  departures: Field.count("Churned among them. An entity at cut-offs closer than the horizon churns once."),
  baseRate: metric("The share that churned."),
  auc: metric("The probability that one that churned had the higher risk."),
  logLoss: metric("Null when no model is good enough for this horizon."),
  skill: metric(
    "1 − the log loss / that of always saying the base rate. It can be compared between horizons.",
  ),
});

export const SettingsPreviewAnswer = Type.Object({
  version: Field.integer("The current version."),
  changes: Type.Array(SettingChange, { description: "The differences that saving would make." }),
  uncounted: Type.Array(Type.String(), {
    description: "Changed settings whose effect on bands is not counted: scores have to be computed for it.",
  }),
  kinds: listOf("Users, then accounts.", {
    kind: Kind,
    day: nullable(Field.day("The day of the scores that are compared. Null before the first.")),
    entities: Field.count("Users, or accounts, with scores."),
    healthChanged: Field.count("How many would have another health band."),
    riskChanged: Field.count("How many would have another risk band."),
    health: listOf("Moves between health bands, the most first.", {
      from: HealthBand,
      to: HealthBand,
      count: Field.count("Users, or accounts."),
    }),
    risk: listOf("Moves between risk bands, the most first. Null without a churn risk.", {
      from: nullable(RiskBand),
      to: nullable(RiskBand),
      count: Field.count("Users, or accounts."),
    }),
    pastHealth: objectOrNull(
      "Whether health would have told the churned from the others better, by stored scores whose horizon is over. Null while the parts of health and their weights stay.",
      {
        cutoffs: Field.count("Days of scores, at most 6, a horizon apart."),
        count: Field.count("Scores that were judged, at most 8,000 of a day."),
        departures: Field.count("Churned among them."),
        aucBefore: metric("The probability that one that stayed had the higher health. Null without both."),
        aucAfter: metric("The same by the changed settings."),
        differenceLow: metric(
          "Of the 95 % interval of aucAfter − aucBefore (DeLong 1988). With 0 in it, neither is better. Null without two of each outcome.",
        ),
        differenceHigh: metric("Of that interval."),
      },
    ),
    definition: objectOrNull(
      "What another target, or another horizon, would mean. Null while both stay. Stored scores of past days are not computed again for it.",
      {
        departuresBefore: Field.count(
          "Users, or accounts, that left in the 365 days before the scores, each once. With the target `subscription` without those that pay again.",
        ),
        departuresAfter: Field.count("The same by the changed settings."),
        stateChanged: Field.count("How many would have another state."),
        states: listOf("Moves between states, the most first.", {
          from: State,
          to: State,
          count: Field.count("Users, or accounts."),
        }),
      },
    ),
    horizons: objectOrNull(
      "Back-tests of the churn risk by both horizons, as a training makes them. Null while the horizon stays.",
      { before: proof, after: proof },
    ),
  }),
});
