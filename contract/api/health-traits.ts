/** Parts of health of an organization's own: numeric traits, each with the values that mean 0 and 100. */
import Type, { type Static } from "typebox";
import { healthTraitLimits } from "../member-limits.ts";
import { closedObject } from "./schema.ts";

const { characters, largestValue } = healthTraitLimits;

const value = (description: string) =>
  Type.Number({
    minimum: -largestValue,
    maximum: largestValue,
    description,
    "x-send": "a number",
  });

/** A part of health: the trait's value on a scale of its own, and its weight. */
export const HealthTrait = closedObject(
  {
    trait: Type.String({
      minLength: 1,
      maxLength: characters,
      description:
        "The name of a trait whose values are numbers. For an account: its attribute with this name, or else the trait of its owner. Two names stand for figures of accounts: `$seatsUsed`, seats used in per cent, and `$pulse`, from 1 to 5. Users have neither.",
      "x-send": `the name of a trait, of 1 to ${characters} characters`,
    }),
    zeroAt: value("The value that means 0. Values beyond it mean 0, too."),
    hundredAt: value("The value that means 100. Values beyond it mean 100, too. It may be below `zeroAt`."),
    weight: Type.Number({
      minimum: 0,
      maximum: 100,
      description: "A percentage.",
      "x-send": "a percentage from 0 to 100",
    }),
  },
  { "x-send": "an object with trait, zeroAt, hundredAt and weight" },
);

export type HealthTrait = Static<typeof HealthTrait>;

export const HealthTraits = Type.Array(HealthTrait, {
  maxItems: healthTraitLimits.traits,
  description:
    "Parts of health of your own: numeric traits such as nps or open_tickets. Their weights and `healthWeights` add up to 100. If a user or an account lacks a trait, or its last value is no number, the other parts share its weight.",
  "x-send": `an array of at most ${healthTraitLimits.traits} objects with trait, zeroAt, hundredAt and weight`,
});

/** The name of a trait among the contributions to health. Other parts have no dot. */
export function partOfTrait(trait: string): string {
  return `trait.${trait}`;
}
