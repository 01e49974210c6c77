/**
 * When an alert rule fires for one entity: a pure function of what is known about the entity and its reading
 * of a decided day. The nightly decision and the preview both call it, so a preview is what the rule would
 * have done.
 */

/** A rule's condition for one entity on one decided day. Days are whole days since 1970-01-01. */
export interface Reading {
  readonly day: number;
  /** Whether the condition holds. */
  readonly isInside: boolean;
  /** False where it holds only because settings, the model or the past as a whole changed. */
  readonly isInsideAsBefore: boolean;
  /** Whether the entity is beyond the threshold by the margin that ends an alert. */
  readonly isOut: boolean;
  readonly standing: Standing;
  /** Whether the entity has no row of scores of the day. Only the preview sets it. */
  readonly isWithoutRow?: true;
}

/**
 * `present`: it can fire. `churned`, `gone` (an account without members), `excluded` (or erased): it cannot.
 * `adopted`: the day is taken over without an alert, because the rule is new or was resumed, or the entity is
 * included again.
 */
export type Standing = "present" | "churned" | "gone" | "excluded" | "adopted";

/** The state of an entity that a rule keeps between decided days. */
export interface EntityState {
  /** Whether the next day inside fires: the exit held, and the cooldown was over. The rule is armed for a
   * churned entity too, which still does not fire within the cooldown. */
  readonly isArmed: boolean;
  /** Decided days in a row on which the entity was out. */
  readonly daysOut: number;
  /** The first day on which the rule may fire again: the day of the last alert plus the cooldown. */
  readonly restsUntil: number | null;
  /** The day on which the open alert fired; null without one. */
  readonly firedOn: number | null;
}

/** The cooldown and the exit of a rule. */
export interface StepRule {
  readonly cooldownDays: number;
  /** Decided days in a row on which an entity must be out: 2 for scores, 1 for segments and sources. */
  readonly exitDays: number;
  /** Whether an alert also resolves within the cooldown, as alerts about sources do. An entity that comes
   * inside within the cooldown then fires when the cooldown is over. */
  readonly resolvesInCooldown?: boolean;
}

/** Why an alert closed. */
export type Closing = "resolved" | "churned" | "gone" | "excluded";

/** What happened to the alerts of an entity on a day: at most one closes and one fires. */
export type Outcome =
  | { readonly what: "fired"; readonly day: number }
  | { readonly what: "closed"; readonly day: number; readonly firedOn: number; readonly why: Closing }
  /** Inside only because settings, the model or the past as a whole changed: no alert, a line of the
   * digest. */
  | { readonly what: "inside by settings"; readonly day: number };

export interface Step {
  readonly state: EntityState;
  readonly outcomes: readonly Outcome[];
}

/** The state of an entity without a stored state: outside. */
export const unknownEntity: EntityState = { isArmed: true, daysOut: 0, restsUntil: null, firedOn: null };

/** Decides one day of one entity. Days are decided in order, each once. */
export function step(rule: StepRule, stored: EntityState, reading: Reading): Step {
  const { standing, isInside, day } = reading;
  const before = withinCooldown(rule, stored, day);
  switch (standing) {
    case "present":
      return isInside ? stepInside(rule, before, reading) : stepOutside(rule, before, reading);
    case "adopted":
      return {
        state: { ...before, isArmed: !isInside && before.firedOn === null, daysOut: 0 },
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

/** Shortens a rest that is longer than one that begins today: the clock was ahead when the alert fired, or
 * the cooldown was longer. */
function withinCooldown({ cooldownDays }: StepRule, state: EntityState, day: number): EntityState {
  const latest = day + cooldownDays;
  return state.restsUntil === null || state.restsUntil <= latest ? state : { ...state, restsUntil: latest };
}

function isResting({ restsUntil }: EntityState, day: number): boolean {
  return restsUntil !== null && day < restsUntil;
}

function stepInside(rule: StepRule, before: EntityState, reading: Reading): Step {
  const { cooldownDays, resolvesInCooldown = false } = rule;
  const { day, isInsideAsBefore } = reading;
  const inside = { ...before, isArmed: false, daysOut: 0 };
  if (!before.isArmed) return { state: inside, outcomes: [] };
  if (isResting(before, day)) {
    return { state: resolvesInCooldown ? { ...before, daysOut: 0 } : inside, outcomes: [] };
  }
  if (!isInsideAsBefore) return { state: inside, outcomes: [{ what: "inside by settings", day }] };
  return {
    state: { ...inside, restsUntil: day + cooldownDays, firedOn: day },
    outcomes: [{ what: "fired", day }],
  };
}

function stepOutside(rule: StepRule, before: EntityState, { day, isOut }: Reading): Step {
  const { exitDays, resolvesInCooldown = false } = rule;
  const daysOut = isOut ? Math.min(before.daysOut + 1, exitDays) : 0;
  const staysOpen = isResting(before, day) && !resolvesInCooldown;
  if (daysOut < exitDays || staysOpen) return { state: { ...before, daysOut }, outcomes: [] };
  return {
    state: { ...before, daysOut, isArmed: true, firedOn: null },
    outcomes: closing(before, day, "resolved"),
  };
}

function closing({ firedOn }: EntityState, day: number, why: Closing): Outcome[] {
  return firedOn === null ? [] : [{ what: "closed", day, firedOn, why }];
}
