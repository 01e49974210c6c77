/**
 * What sends: the tools whose clients are connected as sources, and the write API itself. How much came from each, when,
 * and whether one has fallen silent.
 */

/** Connected sources, by the tool whose client sends. */
export const sourceNames = ["segment", "rudderstack", "customerio", "posthog", "stripe", "webhook"] as const;
export type SourceName = (typeof sourceNames)[number];

/** What became of an item. */
export const sourceOutcomes = ["accepted", "parked", "duplicate", "rejected", "ignored"] as const;
export type SourceOutcome = (typeof sourceOutcomes)[number];
