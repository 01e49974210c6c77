/**
 * Churn targets: what counts as leaving, for users and for accounts. An event, a trait and a subscription are
 * declared targets: silence does not meet them, and activity does not undo them.
 */
import Type, { type Static } from "typebox";
import { billingEventNames } from "../billing/events.ts";
import { EventName } from "../write-api.ts";
import { closedObject, nullable } from "./schema.ts";

const limits = { characters: 256, values: 50 } as const;

const undoneBy = nullable(EventName, {
  description:
    "A later event of this name undoes the churn event, e.g. subscription_resumed. Null: nothing undoes it.",
});

const trait = Type.String({
  minLength: 1,
  maxLength: limits.characters,
  description:
    "The trait's name. For an account: its attribute with this name, or else the trait of its owner.",
  "x-send": `the name of a trait, of 1 to ${limits.characters} characters`,
});

const values = Type.Array(
  Type.String({
    maxLength: limits.characters,
    "x-send": `a text of at most ${limits.characters} characters`,
  }),
  {
    minItems: 1,
    maxItems: limits.values,
    uniqueItems: true,
    description: "The values that mean churn, as texts: `true` matches both the text and the boolean.",
    "x-send": `an array of 1 to ${limits.values} texts, each once`,
  },
);

const means = {
  description:
    "What counts as churn. `silence`: no engagement event for the churn horizon. `event`: the event came, and no later `undoneBy`; later activity does not undo it. `trait`: the trait has one of the values. `subscription`: the last subscription ended, and at least one subscription was paid; only payers with an active or past due subscription have a churn risk.",
};

/** A target as it is stored and answered. */
export const ChurnTarget = Type.Union(
  [
    closedObject({ by: Type.Literal("silence") }),
    closedObject({ by: Type.Literal("event"), event: EventName, undoneBy }),
    closedObject({ by: Type.Literal("trait"), trait, values }),
    closedObject({ by: Type.Literal("subscription") }),
  ],
  means,
);

export type ChurnTarget = Static<typeof ChurnTarget>;

/** A target as it is sent: the keys that belong to `by`. It replaces the one before as a whole. */
export const SentChurnTarget = closedObject(
  {
    by: Type.Enum(["silence", "event", "trait", "subscription"], {
      ...means,
      "x-send": "silence, event, trait or subscription",
    }),
    event: Type.Optional(EventName),
    undoneBy: Type.Optional(undoneBy),
    trait: Type.Optional(trait),
    values: Type.Optional(values),
  },
  { "x-send": "an object with by, and event, undoneBy, trait or values as the target needs them" },
);

export type SentChurnTarget = Static<typeof SentChurnTarget>;

/** The churn target of an organization that has not set a target. */
export const silence: ChurnTarget = { by: "silence" };

/** Targets of users and of accounts. */
export type ChurnTargets = Readonly<Record<"user" | "account", ChurnTarget>>;

/** The events that targets name. */
export function eventsOfTargets(targets: ChurnTargets): string[] {
  return [targets.user, targets.account].flatMap((target) =>
    target.by === "event" ? [target.event, ...(target.undoneBy === null ? [] : [target.undoneBy])] : [],
  );
}

const suggestedFrom = 10;

/** Whether the target `subscription` suits accounts better than their current target: silence, or a billing
 * event, which tells of one subscription only. @param subscriptions known ones */
export function suitsSubscription({ account }: ChurnTargets, subscriptions: number): boolean {
  const names: readonly string[] = billingEventNames;
  const isOutdone = account.by === "silence" || (account.by === "event" && names.includes(account.event));
  return isOutdone && subscriptions >= suggestedFrom;
}

/** A target in words, behind "Churn means: ". @param horizonDays the churn horizon */
export function churnMeans(target: ChurnTarget, horizonDays: number): string {
  switch (target.by) {
    case "silence":
      return `no activity for ${horizonDays} days`;
    case "event":
      return target.undoneBy === null ? target.event : `${target.event}, not undone by ${target.undoneBy}`;
    case "trait":
      return `${target.trait} is ${target.values.join(" or ")}`;
    case "subscription":
      return "the last subscription ended";
  }
}
