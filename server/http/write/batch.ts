/** POST /batch: stores the items and answers with their outcomes. */
import { errorMessages } from "../../../contract/errors.ts";
import type { BatchAnswer } from "../../../contract/write-api.ts";
import type { Arrival } from "../../intake/admission/admit-event.ts";
import { readBatch } from "../../intake/admission/batch.ts";
import { type Invalid, isInvalid, type ParsedObject, type Turn } from "../../intake/admission/json.ts";
import { errorOf, isStored, type Outcome } from "../../intake/decide/requests.ts";
import type { Intake } from "../../intake/intake-service.ts";
import type { WatchedRequest } from "../../intake/watched-request.ts";
import { created, failure, tooMany } from "../port/answers.ts";
import type { TokenBucket } from "../port/rate-limit.ts";

/** Stores a batch. 201 when any item is stored, or was before; a batch over the limit is refused whole. */
export async function storeBatch(
  intake: Intake,
  itemsBucket: TokenBucket,
  body: ParsedObject | Invalid,
  arrival: Arrival,
  turn: Turn,
  watched?: WatchedRequest,
): Promise<Response> {
  const batch = isInvalid(body) ? body : readBatch(body);
  const { organization } = arrival;
  if (isInvalid(batch)) {
    intake.noteRefused("batch", organization, "refused_validation", batch.invalid);
    return failure("validation_error", batch.invalid);
  }
  const waitSeconds = itemsBucket.take(performance.now(), batch.items.length);
  if (waitSeconds > 0) {
    intake.noteRefused("batch", organization, "rate_limited", errorMessages.tooManyItems);
    const { perSecond } = itemsBucket;
    // Waiting does not help a batch with more items than the limit.
    const fits = batch.items.length <= perSecond;
    const message = fits
      ? errorMessages.tooManyItems
      : `${errorMessages.neverAllItems} ${perSecond} at once.`;
    return tooMany(message, waitSeconds, perSecond);
  }
  const answer = batchAnswer(await intake.batch(batch, arrival, turn, watched));
  const [first] = answer.rejected;
  if (answer.accepted + answer.duplicates > 0 || first === undefined) return created(answer);
  return failure("validation_error", `batch.${first.index}: ${first.message}`);
}

function batchAnswer(outcomes: readonly Outcome[]): BatchAnswer {
  const answer = {
    success: true as const,
    accepted: 0,
    duplicates: 0,
    rejected: [] as BatchAnswer["rejected"][number][],
  };
  for (const [index, outcome] of outcomes.entries()) {
    const error = errorOf(outcome);
    if (error !== undefined) answer.rejected.push({ index, ...error });
    else if (isStored(outcome)) answer.accepted += 1;
    else answer.duplicates += 1;
  }
  return answer;
}
