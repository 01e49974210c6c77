/** How fresh figures are: an answer's `freshness`. */

import type { Freshness as FreshnessAnswer } from "../../../contract/api/route.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import { msPerDay } from "../../calendar/zone.ts";
import { bulkLoadOverMs } from "../../scoring/run/scheduler.ts";
import { hasCompleteRun } from "../../scoring/run/status.ts";
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
    loading:
      scheduler.isOn && !silent.some(({ freezesScores }) => freezesScores) ? await loadingOf(context) : null,
    failures: failures(id).map(({ of, sinceMs }) => ({ of, since: instant(sinceMs) })),
  };
}

/** Whether an organization's past is being loaded, or waits for its first scores. */
async function loadingOf(context: OrganizationContext): Promise<FreshnessAnswer["loading"]> {
  const { organization, zone, ledger, warehouse, nowMs } = context;
  const { id } = organization;
  const [hasScores, loadedAtMs] = await Promise.all([
    hasCompleteRun(warehouse, id),
    ledger.lastBulkLoadAtMs(id),
  ]);
  const isLoading = loadedAtMs !== null && Math.abs(nowMs() - loadedAtMs) < bulkLoadOverMs;
  if (hasScores && !isLoading) return null;
  const days = await ledger.dayCounts(id);
  // Scores are of days before today. An organization whose events are all of today waits for tomorrow.
  const startOfToday = zone.startOfDay(zone.dayOf(nowMs()));
  if (!days.some(({ utcDay, events }) => events > 0 && utcDay * msPerDay < startOfToday)) return null;
  return { events: days.reduce((sum, { events }) => sum + events, 0), hasScores };
}
