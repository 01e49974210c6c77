/** Steps a rule through readings of the past, for the preview. Pure. */
import { type Outcome, type Reading, type StepRule, step, unknownEntity } from "./step.ts";

/** The alerts and the churns of an entity. Days are whole days since 1970-01-01. */
export interface Replayed {
  readonly entity: number;
  readonly fired: readonly FiredInPast[];
  /** Days at whose start the entity had churned, and had not churned on the scored day before. */
  readonly churns: readonly number[];
  /** The churns that the rule had noticed: an alert was open, or the entity was inside without an alert
   * (since the first day, or by settings). */
  readonly noticed: ReadonlySet<number>;
  /** By scored day with a row of the entity: whether it had churned. */
  readonly hasChurnedOn: ReadonlyMap<number, boolean>;
  readonly insideBySettings: number;
  /** The last day with a reading, if the condition holds on it; else null. */
  readonly lastInside: number | null;
}

export interface FiredInPast {
  readonly day: number;
  /** The day on which the exit had held for long enough; the alert stays open until the cooldown is over.
   * Null without an exit. */
  readonly leftOn: number | null;
  /** When the alert closed; null while it is open. */
  readonly closed: Pick<Extract<Outcome, { what: "closed" }>, "day" | "why"> | null;
}

/** Steps through the readings of an entity, from the state of an unknown entity. */
export function replay(rule: StepRule, entity: number, readings: readonly Reading[]): Replayed {
  const outcomes: Outcome[] = [];
  const leftOn = new Map<number, number>();
  const noticed = new Set<number>();
  let state = unknownEntity;
  for (const reading of readings) {
    const open = state.firedOn;
    if (reading.standing === "churned" && !state.isArmed) noticed.add(reading.day);
    const decided = step(rule, state, reading);
    state = decided.state;
    const isExited = open !== null && state.daysOut === rule.exitDays;
    if (isExited && !leftOn.has(open)) leftOn.set(open, reading.day);
    outcomes.push(...decided.outcomes);
  }
  const fired = outcomes.flatMap((outcome) => {
    if (outcome.what !== "fired") return [];
    const closing = outcomes.find((other) => other.what === "closed" && other.firedOn === outcome.day);
    const closed = closing?.what === "closed" ? { day: closing.day, why: closing.why } : null;
    return [{ day: outcome.day, leftOn: leftOn.get(outcome.day) ?? null, closed }];
  });
  return {
    entity,
    fired,
    noticed,
    ...churnsOf(readings),
    insideBySettings: outcomes.filter(({ what }) => what === "inside by settings").length,
  };
}

/** The replay of a moment: an alert for each of these days, which has no end. */
export function replayMoments(
  entity: number,
  days: readonly number[],
  readings: readonly Reading[],
): Replayed {
  const outcomes = churnsOf(readings);
  return {
    entity,
    ...outcomes,
    insideBySettings: 0,
    noticed: new Set(outcomes.churns.filter((churn) => days.some((day) => day < churn))),
    fired: days.map((day) => ({ day, leftOn: null, closed: null })),
  };
}

function churnsOf(all: readonly Reading[]): Pick<Replayed, "churns" | "hasChurnedOn" | "lastInside"> {
  const readings = all.filter(({ isWithoutRow }) => isWithoutRow !== true);
  const last = all.at(-1);
  const churns = readings.flatMap(({ standing, day }, at) => {
    const before = readings[at - 1]?.standing;
    return standing === "churned" && before !== undefined && before !== "churned" ? [day] : [];
  });
  return {
    churns,
    hasChurnedOn: new Map(readings.map(({ day, standing }) => [day, standing === "churned"])),
    lastInside: last?.isInside === true ? last.day : null,
  };
}
