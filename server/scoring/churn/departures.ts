/** Departures: labels counted once. An entity that is scored at cut-offs closer than the horizon can leave
 * once, and be labelled as churned at each of them. */

/** A model that was proven keeps serving with this share of the data that a new model needs. Otherwise a
 * single departure more or less would bring and withdraw it by turns. */
export const keptShareOfLeast = 0.8;

/** The outcome of an entity at a cut-off. */
export interface Outcome {
  readonly entity: number;
  readonly cutoffDay: number;
  /** Whether it churned within the horizon from the cut-off. */
  readonly label: boolean;
  /** With the target `subscription`: whether failed payments ended the last subscription of an entity that
   * churned. */
  readonly isInvoluntary?: boolean;
}

export interface OutcomeCounts {
  /** Labels of one entity at cut-offs less than a horizon apart are of one departure. */
  readonly departures: number;
  /** The departures that failed payments caused: 0 for targets other than `subscription`. */
  readonly involuntary: number;
  /** Entities that stayed at one cut-off or more. */
  readonly retained: number;
}

/** Counts departures, and the entities that stayed. */
export function countOutcomes(rows: readonly Outcome[], horizonDays: number): OutcomeCounts {
  const retained = new Set<number>();
  const lastDays = new Map<number, number>();
  let [departures, involuntary] = [0, 0];
  for (const { entity, cutoffDay, label, isInvoluntary } of rows.toSorted(
    (a, b) => a.cutoffDay - b.cutoffDay,
  )) {
    if (!label) retained.add(entity);
    else if (cutoffDay >= (lastDays.get(entity) ?? Number.NEGATIVE_INFINITY) + horizonDays) {
      departures += 1;
      if (isInvoluntary === true) involuntary += 1;
      lastDays.set(entity, cutoffDay);
    }
  }
  return { departures, involuntary, retained: retained.size };
}
