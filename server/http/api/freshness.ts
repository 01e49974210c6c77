/** How fresh figures are: an answer's `freshness`. */
import type { Freshness as FreshnessAnswer } from "../../../contract/api/route.ts";
import { instant, instantOrNull } from "../figures/rows.ts";
import type { OrganizationContext } from "./context.ts";

/** The freshness of an organization's figures at this moment. */
export async function freshnessOf(context: OrganizationContext): Promise<FreshnessAnswer> {
  const { organization, zone, freshness, sources, scheduler, failures } = context;
  const { id } = organization;
  const [{ loadedUptoMs, rebuilding, ...rest }, silent] = await Promise.all([
    freshness(id),
    sources.silent({ id, zone }),
  ]);
  return {
    loadedUpto: instantOrNull(loadedUptoMs),
    rebuilding:
      rebuilding === null ? null : { since: instant(rebuilding.sinceMs), progress: rebuilding.progress },
    ...rest,
    silentSources: silent.map(({ sinceMs, ...each }) => ({ ...each, since: instant(sinceMs) })),
    earlierScores: scheduler.earlierScores(id),
    failures: failures(id).map(({ of, sinceMs }) => ({ of, since: instant(sinceMs) })),
  };
}
