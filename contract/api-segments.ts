/** What the JSON API says of segments: values of a trait for which BG/BB has parameters of their own. */
import Type from "typebox";

const nullWithout = "Null when BG/BB has the same parameters for all.";

export const BgbbParameters = Type.Object({
  alpha: Type.Number(),
  beta: Type.Number(),
  gamma: Type.Number(),
  delta: Type.Number(),
});

/** Of one user's score. */
export const SegmentOfScore = Type.Union(
  [Type.Object({ trait: Type.String(), value: Type.Union([Type.String(), Type.Null()]) }), Type.Null()],
  { description: `The entity's; its value is null if it goes by everybody's parameters. ${nullWithout}` },
);

/** Of the model that serves. */
export const SegmentsOfModel = Type.Union(
  [
    Type.Object({
      trait: Type.String({ description: "The one that explains people best whom the fit has not seen." }),
      values: Type.Array(Type.Object({ value: Type.String(), parameters: BgbbParameters }), {
        description: "Who has another value, or none, goes by the parameters of everybody.",
      }),
    }),
    Type.Null(),
  ],
  { description: nullWithout },
);
