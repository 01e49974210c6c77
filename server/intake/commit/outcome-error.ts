/** What a sender is told of an item that was not taken. */
import { type ErrorName, errorMessages, errorStatus } from "../../../contract/errors.ts";
import type { ErrorAnswer } from "../../../contract/write-api.ts";
import { isStored, type Outcome } from "../decide/decide.ts";

/** The error of an outcome; undefined for what is stored, or was before. */
export function errorOf(outcome: Outcome): (ErrorAnswer & { readonly name: ErrorName }) | undefined {
  if (isStored(outcome) || outcome === "duplicate") return undefined;
  const name = outcome === "not_found" ? "not_found" : "validation_error";
  const message = outcome === "not_found" ? errorMessages.userNotFound : outcome.invalid;
  return { message, statusCode: errorStatus[name], name };
}
