/** The MRR that a hold-out exempts when the request names none. Analysis computes it, because intake reads no
 * MRR. */
import type { RouteAnswer } from "../../../../contract/api/routes.ts";
import { errorMessages } from "../../../../contract/errors.ts";
import { askAnalysis } from "../../../http/api/ask-analysis.ts";
import type { Place } from "../../../http/api/gate.ts";
import type { Peer } from "../../../process/control.ts";

/** It is one query. */
const patienceMs = 10_000;

/** In minor units. Null without payers. @throws ApiError when analysis does not answer: a later try can
 * succeed */
export async function defaultExemption(
  analysis: Peer,
  place: Pick<Place, "organization" | "actor">,
): Promise<number | null> {
  const answer = (await askAnalysis(analysis, place, {
    path: "/api/alert-rules/default-exemption",
    patienceMs,
    away: errorMessages.noDefaultExemption,
  })) as RouteAnswer<"GET /api/alert-rules/default-exemption">;
  return answer.mrrAbove;
}
