/** Full marks of engagement from features: what `server/scoring/queries/scale-query.ts` is compared with. */
import { type EngagementScale, scaleOf } from "../../server/scoring/scores/engagement.ts";
import type { Features } from "../../server/scoring/scores/features.ts";
import { quantile } from "../../server/scoring/statistics/vectors.ts";

/**
 * Full marks from the entities of an organization and from the gaps, in days, between their active days.
 * Entities that were not active in the 28 days are left out.
 */
export function engagementScale(entities: readonly Features[], gapsDays: readonly number[]): EngagementScale {
  const active = entities.filter(({ activeDays28 }) => activeDays28 > 0);
  const full = (of: (features: Features) => number) =>
    active.length === 0 ? null : quantile(active.map(of), 0.9);
  return scaleOf({
    activeDays: full(({ activeDays28 }) => activeDays28),
    volume: full(({ volume28 }) => volume28),
    eventNames: full(({ eventNames28 }) => eventNames28),
    medianGapDays: gapsDays.length === 0 ? null : quantile(gapsDays, 0.5),
  });
}
