/** Why somebody is not let in, or does not get what was asked for. */
import { type ApiErrorName, errorMessages } from "../../contract/errors.ts";

/** A request of a person that is refused for another reason than its content, which would be a Refusal. */
export class Denied extends Error {
  override readonly name = "Denied";
  readonly kind: ApiErrorName;
  /** Whole seconds, when waiting helps. */
  readonly retryAfterSeconds: number | undefined;

  constructor(kind: ApiErrorName, message: string, retryAfterSeconds?: number) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Nobody is signed in. */
export function notSignedIn(): Denied {
  return new Denied("invalid_write_key", errorMessages.notSignedIn);
}

/** The same for what belongs to somebody else and for what does not exist. */
export function notThere(what: string): Denied {
  return new Denied("not_found", `There is no such ${what}.`);
}
