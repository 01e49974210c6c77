/**
 * How people come in and go out. A session is a new random id at every sign-in; it lives for 30 days after its last use.
 * Who comes in by a link chose or knew the password: links are used up in the commit that lets in.
 */
import type { SessionAnswer } from "../../contract/people.ts";
import { peopleLimits } from "../../contract/people-limits.ts";
import { personActor } from "../ledger/audit.ts";
import { type Ledger, Refusal } from "../ledger/ledger.ts";
import {
  emailKey,
  hashCode,
  type Link,
  type LinkKind,
  newCode,
  type Person,
  type Session,
} from "../ledger/people.ts";
import { Denied } from "./denied.ts";
import { Guessing } from "./guessing.ts";
import { Pacing } from "./pacing.ts";
import { Passwords, refuseGuessable, type Sender } from "./passwords.ts";

/** A use is written down this often, so that a request is not a commit. */
const usedEveryMs = 3_600_000;

/** Who has come in: what the cookie will hold, and nothing else ever. */
export interface Entered {
  readonly secret: string;
  readonly person: Person;
}

/** A session that a request came with. */
export interface SignedIn {
  readonly session: Session;
  /** Whether its life was prolonged just now. */
  readonly renewed: boolean;
}

/** Where a request came from. */
export interface From {
  readonly address: string;
  /** The session that the sender had before, if any: it ends when another begins. */
  readonly before: SignedIn | undefined;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export class SignIn {
  readonly #people: Ledger["people"];
  readonly #entrance: Ledger["entrance"];
  readonly #nowMs: () => number;
  readonly #passwords = new Passwords();
  readonly #guessing = new Guessing();
  readonly #pacing = new Pacing();

  constructor({ people, entrance }: Pick<Ledger, "people" | "entrance">, nowMs: () => number) {
    this.#people = people;
    this.#entrance = entrance;
    this.#nowMs = nowMs;
  }

  isClaimed(): Promise<boolean> {
    return this.#people.isClaimed();
  }

  /** The session with this secret; undefined when there is none that lives. */
  async find(secret: string): Promise<SignedIn | undefined> {
    const nowMs = this.#nowMs();
    const session = await this.#entrance.session(hashCode(secret), nowMs);
    if (session === undefined) return undefined;
    const renewed = nowMs - session.usedAtMs >= usedEveryMs;
    if (renewed) await this.#entrance.used(session.id, nowMs);
    return { session, renewed };
  }

  /** Who somebody is, and where they are members. */
  async describe({ id, name, email }: Person): Promise<SessionAnswer> {
    const memberships = await this.#people.membershipsOf(id);
    return {
      person: { id, name, email },
      organizations: memberships.map(({ organization, role }) => ({
        ...{ id: organization.id, name: organization.name, timezone: organization.timezone, role },
      })),
    };
  }

  /** Makes the first person, by the link that the first start printed. */
  async claim(
    sent: { readonly code: string; readonly name: string; readonly email: string; readonly password: string },
    from: From,
  ): Promise<Entered> {
    await this.#living("claim", sent.code);
    const email = emailKey(sent.email);
    refuseGuessable(sent.password, email);
    const passwordHash = await this.#passwords.hash(sent.password, senderOf(email, from));
    const person = { email, name: sent.name.trim(), passwordHash };
    return this.#begin(
      (await this.#entrance.claim(hashCode(sent.code), person, this.#nowMs())) ?? notValid(),
      from,
    );
  }

  async signIn(sent: { readonly email: string; readonly password: string }, from: From): Promise<Entered> {
    const email = emailKey(sent.email);
    const person = await this.#people.withEmail(email);
    return this.#begin(await this.#verified(email, person, sent.password, from), from);
  }

  /** What an invitation is to. */
  async invitation(code: string): Promise<{ readonly link: Link; readonly knownPerson: boolean }> {
    const link = await this.#living("invitation", code);
    return { link, knownPerson: (await this.#people.withEmail(link.email ?? "")) !== undefined };
  }

  /** Joins an organization: with a new account, or with one's own password. */
  async accept(
    sent: {
      readonly code: string;
      readonly name?: string | undefined;
      readonly password?: string | undefined;
    },
    from: From,
  ): Promise<Entered> {
    const { email } = await this.#living("invitation", sent.code);
    if (email === null) return notValid();
    const who = await this.#whoAccepts(email, sent, from);
    const person = await this.#entrance.accept(hashCode(sent.code), who, this.#nowMs());
    return this.#begin(person ?? notValid(), from);
  }

  /** Sets a new password by a link, and signs out everywhere. */
  async resetPassword(
    sent: { readonly code: string; readonly password: string },
    from: From,
  ): Promise<Entered> {
    const { person: id } = await this.#living("password", sent.code);
    const { email } = (id === null ? undefined : await this.#people.find(id)) ?? notValid();
    refuseGuessable(sent.password, email);
    const passwordHash = await this.#passwords.hash(sent.password, senderOf(email, from));
    const person = await this.#entrance.resetPassword(hashCode(sent.code), passwordHash, this.#nowMs());
    return this.#begin(person ?? notValid(), from);
  }

  /** Changes what people say of themselves. With a new password everybody else is signed out, and the session
   * goes on under a new id. */
  async change(
    { session }: SignedIn,
    sent: {
      readonly name?: string | undefined;
      readonly email?: string | undefined;
      readonly currentPassword?: string | undefined;
      readonly newPassword?: string | undefined;
    },
    from: From,
  ): Promise<{ readonly person: Person; readonly entered: Entered | undefined }> {
    const { person } = session;
    const { name, currentPassword, newPassword } = sent;
    const email = emailKey(sent.email ?? person.email);
    if (newPassword !== undefined) refuseGuessable(newPassword, email);
    let verifiedHash: string | undefined;
    if (newPassword !== undefined || email !== person.email) {
      if (currentPassword === undefined) throw new Refusal("currentPassword is missing: send the password.");
      const verified = this.#verified(person.email, person, currentPassword, from, wrongCurrentPassword);
      verifiedHash = (await verified).passwordHash;
    }
    const passwordHash =
      newPassword === undefined ? undefined : await this.#passwords.hash(newPassword, senderOf(email, from));
    const change = {
      ...(name !== undefined && { name: name.trim() }),
      ...(email !== person.email && { email }),
      ...(passwordHash !== undefined && { passwordHash }),
    };
    // While the new one was hashed, a link may have set another: a stolen session must not win over it.
    const changed = await this.#people.change(
      ...([person.id, change, personActor(person), this.#nowMs(), verifiedHash] as const),
    );
    if (passwordHash === undefined) return { person: changed, entered: undefined };
    await this.#entrance.endAll(person.id);
    return { person: changed, entered: await this.#begin(changed, from) };
  }

  end({ session }: SignedIn): Promise<void> {
    return this.#entrance.end(session.id);
  }

  endAll({ session }: SignedIn): Promise<void> {
    return this.#entrance.endAll(session.person.id);
  }

  async #whoAccepts(email: string, sent: Parameters<SignIn["accept"]>[0], from: From) {
    const { name, password } = sent;
    const known = await this.#people.withEmail(email);
    if (known !== undefined) {
      if (from.before?.session.person.id === known.id) return { id: known.id };
      if (password === undefined)
        throw new Refusal("password is missing: send the password of your account.");
      return { id: (await this.#verified(email, known, password, from)).id };
    }
    if (name === undefined || password === undefined) {
      throw new Refusal(`${name === undefined ? "name" : "password"} is missing: send both.`);
    }
    refuseGuessable(password, email);
    return { name: name.trim(), passwordHash: await this.#passwords.hash(password, senderOf(email, from)) };
  }

  /** The person, when it is the password; a person that does not exist takes as long.
   * @throws Denied when it is not, or somebody guesses */
  async #verified(
    email: string,
    person: Person | undefined,
    password: string,
    from: From,
    wrong = wrongPassword,
  ): Promise<Person> {
    const { address } = from;
    const attempt = this.#guessing.begin(email, address, performance.now());
    if ("waitSeconds" in attempt) {
      const { waitSeconds } = attempt;
      throw tooOften("Too many wrong passwords", waitSeconds);
    }
    const isKnown = this.#guessing.isKnown(email, address);
    const waitSeconds = this.#pacing.attempt(email, address, isKnown, performance.now());
    if (waitSeconds > 0) {
      attempt.withdrawn();
      throw tooOften("Too many attempts to sign in", waitSeconds);
    }
    const matches = await this.#passwords
      .matches(password, person?.passwordHash, senderOf(email, from))
      .catch((error: unknown) => {
        attempt.withdrawn();
        throw error;
      });
    // While it was compared the password may have been changed, and everybody signed out.
    const now = person && (await this.#people.find(person.id));
    if (!matches || now === undefined || now.passwordHash !== person?.passwordHash) throw wrong();
    attempt.succeeded();
    this.#pacing.succeeded(email, performance.now());
    return now;
  }

  async #living(kind: LinkKind, code: string): Promise<Link> {
    return (await this.#entrance.link(kind, hashCode(code), this.#nowMs())) ?? notValid();
  }

  async #begin(person: Person, { before }: From): Promise<Entered> {
    const { code, sha256 } = newCode();
    if (before !== undefined) await this.#entrance.end(before.session.id);
    await this.#entrance.begin(person.id, sha256, this.#nowMs());
    return { secret: code, person };
  }
}

/** How long a session lives after it was used, in seconds. */
export const sessionSeconds = peopleLimits.sessionDays * 86_400;

function senderOf(email: string, { address, signal }: From): Sender {
  return { group: address, member: email, signal };
}

function tooOften(what: string, waitSeconds: number): Denied {
  const message = `${what}: try again in ${waitSeconds} second${waitSeconds === 1 ? "" : "s"}.`;
  return new Denied("rate_limit_exceeded", message, waitSeconds);
}

function notValid(): never {
  throw new Denied("not_found", "This link is not valid, or not any more: ask for a new one.");
}

function wrongPassword(): Denied {
  return new Denied("invalid_write_key", "The e-mail or the password is wrong.");
}

/** No 401: the session is as good as before. */
function wrongCurrentPassword(): Denied {
  return new Denied("validation_error", "currentPassword is wrong: send the password that you have now.");
}
