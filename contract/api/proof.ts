/** What the JSON API says of the proof behind a model. */
import Type from "typebox";
import { count } from "./api.ts";

const haveAndNeed = (description: string) =>
  Type.Object({ have: Type.Integer(), need: Type.Integer() }, { description });

export const Proof = Type.Object(
  {
    cutoffs: haveAndNeed("Past days as of which models could be trained and judged."),
    rarerLabels: haveAndNeed("Of those judged, who churned or who stayed, whichever are fewer."),
  },
  { description: "What a back-test takes before it may call a model proven." },
);

export const TrainedOn = Type.Object(
  {
    entities: count("Seen within 26 weeks before the day of the scores."),
    churnedLabels: count("Outcomes that are known: who went silent for the horizon."),
    retainedLabels: count("Who did not."),
  },
  { description: "What there is to learn from. Somebody counts as often as there are outcomes." },
);

export const BgbbParameters = Type.Object({
  alpha: Type.Number(),
  beta: Type.Number(),
  gamma: Type.Number(),
  delta: Type.Number(),
});
