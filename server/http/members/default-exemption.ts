/** The MRR that a hold-out exempts when the request names none. Analysis computes it, because intake reads no MRR. */
import type { RouteAnswer } from "../../../contract/api/routes.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { type Peer, Unreachable } from "../../process/process.ts";
import { headersOfCaller } from "../api/analysis-api.ts";
import type { Place } from "./gate.ts";

/** It is one query. A node that takes longer counts as away. */
const patienceMs = 10_000;
const retryAfterSeconds = 2;

/** In minor units. Null without payers. @throws ApiError when analysis does not answer: a later try can succeed */
export async function defaultExemption(
  analysis: Peer,
  { organization, actor }: Pick<Place, "organization" | "actor">,
): Promise<number | null> {
  const headers = headersOfCaller({ organization: organization.id, actor, rights: ["read"] });
  const asked = { headers, signal: AbortSignal.timeout(patienceMs) };
  const response = await analysis.fetch("/api/alert-rules/default-exemption", asked).catch(withoutAnswer);
  if (response?.ok !== true) {
    throw new ApiError("application_error", errorMessages.noDefaultExemption, retryAfterSeconds);
  }
  const answer = (await response.json()) as RouteAnswer<"GET /api/alert-rules/default-exemption">;
  return answer.mrrAbove;
}

function withoutAnswer(error: unknown): undefined {
  if (!(error instanceof Unreachable)) throw error;
}
