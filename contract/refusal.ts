/** Errors with a message for the caller. */
import { type ApiErrorName, errorMessages } from "./errors.ts";

/** An operation that cannot be done. The JSON API answers it as a validation_error. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}

/** A refusal with its own name among the errors of the JSON API. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly kind: ApiErrorName;
  /** Whole seconds, when a later try can succeed. */
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: ApiErrorName, message: string, retryAfterSeconds?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The request has no session. @param takesKeys whether a read key would do */
export function notSignedIn(takesKeys: boolean): ApiError {
  const { notSignedIn: either, sessionAlone } = errorMessages;
  return new ApiError("invalid_write_key", takesKeys ? either : sessionAlone);
}

/** Another organization's object is answered as one that does not exist. */
export function noSuch(what: string): ApiError {
  return new ApiError("not_found", `There is no such ${what}.`);
}
