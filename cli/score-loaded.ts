/** The end of a load: scores of what was loaded, by the running server. */

import { remoteAnalysis } from "../server/between/remote/remote-analysis.ts";
import { formatDay } from "../server/calendar/days.ts";
import type { Organization } from "../server/ledger/stores/organization-rows.ts";
import type { ScoreSummary, ScoringService } from "../server/scoring/run/scoring.ts";
import type { Installation } from "./installation.ts";
import { Progress } from "./progress.ts";

/** Scores an organization as of today, with a line of progress. The schedule would wait until nothing more is
 * loaded.
 * @returns a sentence about it; undefined when no server runs, or when there is nothing to score yet */
export async function scoreLoaded(
  { analysis }: Pick<Installation, "analysis">,
  organization: Pick<Organization, "id" | "name">,
): Promise<string | undefined> {
  if (analysis === undefined) return undefined;
  const { day, kinds, stopped } = await scoreWithProgress(remoteAnalysis(analysis).scoring, organization, {});
  if (stopped !== null || kinds.length === 0) return undefined;
  const counts = kinds
    .filter(({ entities }) => entities > 0)
    .map(({ kind, entities }) => `${entities} ${kind}s`);
  return `Scored as of ${formatDay(day)}: ${counts.join(", ")}. Earlier days follow in the background.`;
}

/** Scores an organization, and shows the steps. @throws as `ScoringService.score` */
export async function scoreWithProgress(
  scoring: Pick<ScoringService, "score">,
  { id, name }: Pick<Organization, "id" | "name">,
  options: { readonly day?: number; readonly evenIfStopped?: boolean },
): Promise<ScoreSummary> {
  const progress = new Progress("steps");
  let done = 0;
  try {
    return await scoring.score({ organization: id, ...options }, ({ step }) => {
      progress.show({ step: `${name}, ${step}`, done, fraction: undefined });
      done += 1;
    });
  } finally {
    progress.end();
  }
}
