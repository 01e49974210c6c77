/** POST /batch: what its items come to, as one answer. */
import { type ErrorName, errorMessages, errorStatus } from "../../contract/errors.ts";
import type { BatchAnswer } from "../../contract/write-api.ts";
import { type Arrival, type Intake, isInvalid, type Outcome, parseBatch } from "../intake/intake.ts";
import { created, failure, tooMany } from "./answers.ts";
import type { TokenBucket } from "./rate-limit.ts";

/** Stores a batch. 201 when any item is stored, or was before; a batch over the limit is refused whole. */
export async function storeBatch(
  intake: Intake,
  itemsBucket: TokenBucket,
  body: Uint8Array,
  arrival: Arrival,
): Promise<Response> {
  const batch = parseBatch(body);
  const { organization } = arrival;
  if (isInvalid(batch)) {
    intake.noteTurnedAway("batch", organization, "refused_validation", batch.invalid);
    return failure("validation_error", batch.invalid);
  }
  const waitSeconds = itemsBucket.take(performance.now(), batch.items.length);
  if (waitSeconds > 0) {
    intake.noteTurnedAway("batch", organization, "rate_limited", errorMessages.tooManyItems);
    return tooMany(errorMessages.tooManyItems, waitSeconds, itemsBucket.perSecond);
  }
  const answer = batchAnswer(await intake.batch(batch, arrival));
  const [first] = answer.rejected;
  if (answer.accepted + answer.duplicates > 0 || first === undefined) return created(answer);
  return failure("validation_error", `batch.${first.index}: ${first.message}`);
}

function batchAnswer(outcomes: readonly Outcome[]): BatchAnswer {
  const answer = { success: true as const, accepted: 0, duplicates: 0, rejected: [] as Rejected[] };
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome === "stored") answer.accepted += 1;
    else if (outcome === "duplicate") answer.duplicates += 1;
    else if (outcome === "not_found")
      answer.rejected.push(rejected(index, "not_found", errorMessages.userNotFound));
    else answer.rejected.push(rejected(index, "validation_error", outcome.invalid));
  }
  return answer;
}

type Rejected = BatchAnswer["rejected"][number];

function rejected(index: number, name: ErrorName, message: string): Rejected {
  return { index, message, statusCode: errorStatus[name], name };
}
