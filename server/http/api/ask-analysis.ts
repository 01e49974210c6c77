/** Questions that intake asks of analysis for a team member. */
import { ApiError } from "../../../contract/refusal.ts";
import type { ApiErrorAnswer } from "../../../contract/write-api.ts";
import { type Peer, Unreachable } from "../../process/control.ts";
import { headersOfCaller } from "./caller.ts";
import type { Place } from "./gate.ts";

const retryAfterSeconds = 2;

interface Question {
  readonly path: string;
  /** An analysis process that takes longer counts as away. */
  readonly patienceMs: number;
  /** The message of the error while analysis is away. */
  readonly away: string;
}

/** The answer to a question that needs the right to read.
 * @throws ApiError with the message of analysis for a question that is not valid, and while analysis does not
 * answer: a later try can succeed */
export async function askAnalysis(
  analysis: Peer,
  { organization, actor }: Pick<Place, "organization" | "actor">,
  { path, patienceMs, away }: Question,
): Promise<unknown> {
  const headers = headersOfCaller({ organization: organization.id, actor, rights: ["read"] });
  const asked = { headers, signal: AbortSignal.timeout(patienceMs) };
  const response = await analysis.fetch(path, asked).catch(withoutAnswer);
  if (response?.ok === true) return response.json();
  if (response?.status !== 400) throw new ApiError("application_error", away, retryAfterSeconds);
  throw new ApiError("validation_error", ((await response.json()) as ApiErrorAnswer).message);
}

function withoutAnswer(error: unknown): undefined {
  if (!(error instanceof Unreachable)) throw error;
}
