/** Compares a password with a person's: slowed down for guesses, paced, and watched. */
import { counted } from "../../contract/counted.ts";
import { ApiError } from "../../contract/refusal.ts";
import type { Person } from "../ledger/stores/member-rows.ts";
import type { MemberStore } from "../ledger/stores/members.ts";
import { deviceOf } from "./devices.ts";
import { type AttemptSource, Guessing } from "./guessing.ts";
import { Pacing } from "./pacing.ts";
import { Passwords, type Sender } from "./passwords.ts";
import type { SignInWatch } from "./sign-in-watch.ts";

/** Where an attempt comes from. */
export interface Attempting {
  readonly address: string;
  /** The cookie of the browser, if it has one. */
  readonly device: string | undefined;
  /** The session that the attempt came with, if any. */
  readonly before: { readonly session: { readonly id: number; readonly person: Person } } | undefined;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
}

export class PasswordCheck {
  readonly #people: Pick<MemberStore, "find">;
  readonly #watch: SignInWatch;
  readonly #passwords = new Passwords();
  readonly #guessing = new Guessing();
  readonly #pacing = new Pacing();

  constructor(people: Pick<MemberStore, "find">, watch: SignInWatch) {
    this.#people = people;
    this.#watch = watch;
  }

  /** The hash to be kept of a new password. @throws ApiError when too many wait */
  hash(password: string, email: string, from: Attempting): Promise<string> {
    return this.#passwords.hash(password, senderOf(email, from));
  }

  /** The person, when it is the password; without a person it takes as long.
   * @throws ApiError when it is not, or after too many failures */
  async verified(
    email: string,
    person: Person | undefined,
    password: string,
    from: Attempting,
    wrong: () => ApiError,
  ): Promise<Person> {
    const source = sourceOf(person, from);
    const attempt = this.#guessing.begin(email, source, performance.now());
    if ("waitSeconds" in attempt) {
      this.#watch.held();
      throw tooOften("Too many wrong passwords", attempt.waitSeconds);
    }
    let matches: boolean;
    try {
      await this.#paced(email, source, from.signal);
      matches = await this.#passwords.matches(password, person?.passwordHash, senderOf(email, from));
    } catch (error) {
      attempt.withdrawn();
      throw error;
    }
    // While it was compared the password may have been changed, and all sessions ended.
    const now = person && (await this.#people.find(person.id));
    if (!matches || now === undefined || now.passwordHash !== person?.passwordHash) {
      const { failures, isLast: isHeld } = attempt;
      this.#watch.failed({ person, address: from.address, failures, isHeld });
      throw wrong();
    }
    attempt.succeeded();
    this.#watch.succeeded();
    this.#pacing.succeeded(email, performance.now());
    return now;
  }

  async #paced(email: string, source: AttemptSource, signal: AbortSignal): Promise<void> {
    const paced = this.#pacing.attempt(email, source, performance.now());
    if ("waitSeconds" in paced) throw tooOften("Too many attempts to sign in", paced.waitSeconds);
    if (paced.delayMs === 0) return;
    await Bun.sleep(paced.delayMs);
    signal.throwIfAborted();
  }
}

/** A session and a browser count as sources of their own when they are the person's. */
function sourceOf(person: Person | undefined, { address, device, before }: Attempting): AttemptSource {
  const session = before?.session;
  if (person !== undefined && session?.person.id === person.id) {
    return { kind: "session", id: String(session.id) };
  }
  const browser = person && device && deviceOf(person, device);
  return browser ? { kind: "browser", id: browser } : { kind: "address", id: address };
}

function senderOf(email: string, { address, signal }: Attempting): Sender {
  return { group: address, member: email, signal };
}

function tooOften(what: string, waitSeconds: number): ApiError {
  const message = `${what}: try again in ${counted(waitSeconds, "second")}.`;
  return new ApiError("rate_limit_exceeded", message, waitSeconds);
}
