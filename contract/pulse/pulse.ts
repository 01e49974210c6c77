/** Limits of pulses: what team members judge accounts to be. Pages import it, so it imports no schema. */

export const pulseLimits = {
  lowest: 1,
  highest: 5,
  textCharacters: 500,
  /** Pulses that were taken back count, too. */
  pulsesPerAccount: 500,
  pulsesPerOrganization: 100_000,
  /** A pulse is stale more than this many days after the day on which it was said. */
  staleAfterDays: 90,
} as const;

/** What has become of a pulse. `current` counts in scores. */
export const pulseStates = ["current", "stale", "owner_changed", "replaced", "taken_back"] as const;
export type PulseState = (typeof pulseStates)[number];
