/**
 * When an alert rule fires for one entity: a pure function of what is known about the entity and its reading of a decided day.
 * The nightly decision and the preview both call it, so a preview is what the rule would have done.
 */

/** A rule's condition for one entity on one decided day. Days are whole days since 1970-01-01. */
export interface Reading {
  readonly day: number;
  /** Whether the condition holds. */
  readonly isInside: boolean;
  /** Whether it would hold under the model, risk bands and settings of the last decided day. */
  readonly isInsideAsBefore: boolean;
  /** Whether the entity is beyond the threshold by the margin that ends an alert. */
  readonly isOut: boolean;
  readonly standing: Standing;
}

/**
 * `present`: it can fire. `churned`, `gone` (an account without members), `excluded` (or erased): it cannot. `adopted`: the day
 * is taken over without an alert, because the rule was resumed, the entity is included again, or a bulk change came before.
 */
export type Standing = "present" | "churned" | "gone" | "excluded" | "adopted";

/** The state of an entity that a rule keeps between decided days. */
export interface EntityState {
  /** Whether the entity was out for long enough since it was last inside. Then the next day inside fires, unless the rule rests. */
  readonly hasLeft: boolean;
  /** Decided days in a row on which the entity was out. */
  readonly daysOut: number;
  /** The first day on which the rule may fire again: that of the last alert and the cooldown. */
  readonly restsUntil: number | null;
  /** The day on which the open alert fired; null without one. */
  readonly firedOn: number | null;
}

/** The times of a rule. */
export interface StepRule {
  readonly cooldownDays: number;
  /** Decided days in a row on which an entity must be out: 2 for scores, 1 for segments and sources. */
  readonly exitDays: number;
}

/** Why an alert closed. */
export type Closing = "resolved" | "churned" | "gone" | "excluded";

/** The events of a day. At most one alert closes and one fires on it. */
export type Outcome =
  | { readonly what: "fired"; readonly day: number }
  | { readonly what: "closed"; readonly day: number; readonly firedOn: number; readonly why: Closing }
  /** Inside only because the model, the bands or the settings changed: no alert, a line of the digest. */
  | { readonly what: "inside by settings"; readonly day: number };

export interface Step {
  readonly state: EntityState;
  readonly outcomes: readonly Outcome[];
}

/** An entity of which nothing is known counts as outside. */
export const unknownEntity: EntityState = { hasLeft: true, daysOut: 0, restsUntil: null, firedOn: null };

/** Decides one day of one entity. Days are decided in order, each once. */
export function step(rule: StepRule, before: EntityState, reading: Reading): Step {
  const { standing, isInside, day } = reading;
  switch (standing) {
    case "present":
      return isInside ? stepInside(rule, before, reading) : stepOutside(rule, before, reading);
    case "adopted":
      return {
        state: { ...before, hasLeft: !isInside && before.firedOn === null, daysOut: 0 },
        outcomes: [],
      };
    default:
      // An entity that returns starts outside. The cooldown still holds.
      return {
        state: { ...unknownEntity, restsUntil: before.restsUntil },
        outcomes: closing(before, day, standing),
      };
  }
}

function stepInside({ cooldownDays }: StepRule, before: EntityState, reading: Reading): Step {
  const { day, isInsideAsBefore } = reading;
  const inside = { ...before, hasLeft: false, daysOut: 0 };
  const isResting = before.restsUntil !== null && day < before.restsUntil;
  if (!before.hasLeft || isResting) return { state: inside, outcomes: [] };
  if (!isInsideAsBefore) return { state: inside, outcomes: [{ what: "inside by settings", day }] };
  return {
    state: { ...inside, restsUntil: day + cooldownDays, firedOn: day },
    outcomes: [{ what: "fired", day }],
  };
}

function stepOutside({ exitDays }: StepRule, before: EntityState, { day, isOut }: Reading): Step {
  const daysOut = isOut ? Math.min(before.daysOut + 1, exitDays) : 0;
  if (daysOut < exitDays) return { state: { ...before, daysOut }, outcomes: [] };
  return {
    state: { ...before, daysOut, hasLeft: true, firedOn: null },
    outcomes: closing(before, day, "resolved"),
  };
}

function closing({ firedOn }: EntityState, day: number, why: Closing): Outcome[] {
  return firedOn === null ? [] : [{ what: "closed", day, firedOn, why }];
}
