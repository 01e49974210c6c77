/**
 * Sign-in and sign-out. A session is a new random id at every sign-in. It lives for 30 days. A link is used
 * up in the same commit that creates its session.
 */

import type { RouteAnswer, RouteBody } from "../../contract/api/routes.ts";
import { peopleLimits } from "../../contract/member-limits.ts";
import { ApiError, Refusal } from "../../contract/refusal.ts";
import { personActor } from "../ledger/audit.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Link, LinkKind } from "../ledger/stores/invite-links.ts";
import { loginEmail, type Session } from "../ledger/stores/logins.ts";
import { type Person, withFallbackEmail } from "../ledger/stores/member-rows.ts";
import { hashCode, newCode } from "../ledger/stores/members.ts";
import { newDevice } from "./devices.ts";
import { type Attempting, PasswordCheck } from "./password-check.ts";
import { refuseGuessable } from "./passwords.ts";
import type { SignInWatch } from "./sign-in-watch.ts";

/** A use is written down this often, so that a request is not a commit. It decides which of too many sessions
 * end. */
const usedEveryMs = 3_600_000;

/** A new session. Only the cookies hold these secrets. */
export interface Entered {
  readonly secret: string;
  /** Of the browser: see devices.ts. */
  readonly device: string;
  readonly person: Person;
}

/** A session that a request came with. */
export interface SignedIn {
  readonly session: Session;
}

/** Where a request came from. The session that it came with ends when another begins. */
export interface From extends Attempting {
  readonly before: SignedIn | undefined;
}

export class SignIn {
  readonly #members: Ledger["members"];
  readonly #logins: Ledger["logins"];
  readonly #nowMs: () => number;
  readonly #check: PasswordCheck;

  constructor(
    { members, logins }: Pick<Ledger, "members" | "logins">,
    watch: SignInWatch,
    nowMs: () => number,
  ) {
    this.#check = new PasswordCheck(members, watch);
    this.#members = members;
    this.#logins = logins;
    this.#nowMs = nowMs;
  }

  isClaimed(): Promise<boolean> {
    return this.#members.isClaimed();
  }

  /** The session with this secret; undefined when there is none that lives. */
  async find(secret: string): Promise<SignedIn | undefined> {
    const nowMs = this.#nowMs();
    const session = await this.#logins.session(hashCode(secret), nowMs);
    if (session === undefined) return undefined;
    if (nowMs - session.usedAtMs >= usedEveryMs) await this.#logins.used(session.id, nowMs);
    return { session };
  }

  /** A person and their memberships. */
  async describe({ id, name, email }: Person): Promise<RouteAnswer<"GET /api/session">> {
    const memberships = await this.#members.membershipsOf(id);
    return {
      person: { id, name, email },
      organizations: memberships.map(({ organization, role }) => ({
        id: organization.id,
        name: organization.name,
        timezone: organization.timezone,
        role,
      })),
    };
  }

  /** Makes the first person, by the link that the first start printed. */
  async claim(sent: RouteBody<"POST /api/claim">, from: From): Promise<Entered> {
    await this.#living("claim", sent.code);
    const email = loginEmail(sent.email);
    refuseGuessable(sent.password, email);
    const passwordHash = await this.#check.hash(sent.password, email, from);
    const person = { email, name: sent.name.trim(), passwordHash };
    return this.#begin(
      (await this.#logins.claim(hashCode(sent.code), person, this.#nowMs())) ?? notValid(),
      from,
    );
  }

  async signIn(sent: RouteBody<"POST /api/session">, from: From): Promise<Entered> {
    const email = loginEmail(sent.email);
    const person = await this.#members.withEmail(email);
    return this.#begin(await this.#check.verified(email, person, sent.password, from, wrongPassword), from);
  }

  /** The organization and role of an invitation. */
  invitation(code: string): Promise<Link> {
    return this.#living("invitation", code);
  }

  /** Joins an organization: with a name and a password as a new person, or with the password of one's
   * account. */
  async accept(sent: RouteBody<"POST /api/invitations/accept">, from: From): Promise<Entered> {
    const { email } = await this.#living("invitation", sent.code);
    if (email === null) return notValid();
    const who = await this.#whoAccepts(email, sent, from);
    const person = await this.#logins.accept(hashCode(sent.code), who, this.#nowMs());
    return this.#begin(person ?? notValid(), from);
  }

  /** Sets a new password by a link, and signs out everywhere. */
  async resetPassword(sent: RouteBody<"POST /api/password">, from: From): Promise<Entered> {
    const { person: id } = await this.#living("password", sent.code);
    const { email } = (id === null ? undefined : await this.#members.find(id)) ?? notValid();
    refuseGuessable(sent.password, email);
    const passwordHash = await this.#check.hash(sent.password, email, from);
    const person = await this.#logins.resetPassword(hashCode(sent.code), passwordHash, this.#nowMs());
    return this.#begin(person ?? notValid(), from);
  }

  /** Changes what people say of themselves. With a new password everybody else is signed out, and the session
   * goes on under a new id. */
  async change(
    { session }: SignedIn,
    sent: RouteBody<"PATCH /api/person">,
    from: From,
  ): Promise<{ readonly person: Person; readonly entered: Entered | undefined }> {
    const { person } = session;
    const { name, currentPassword, newPassword } = sent;
    const email = loginEmail(sent.email ?? person.email);
    if (newPassword !== undefined) refuseGuessable(newPassword, email);
    let verifiedHash: string | undefined;
    if (newPassword !== undefined || email !== person.email) {
      if (currentPassword === undefined) throw new Refusal("currentPassword is missing: send the password.");
      const verified = this.#check.verified(
        person.email,
        person,
        currentPassword,
        from,
        wrongCurrentPassword,
      );
      verifiedHash = (await verified).passwordHash;
    }
    const passwordHash =
      newPassword === undefined ? undefined : await this.#check.hash(newPassword, email, from);
    const change = {
      ...(name !== undefined && { name: name.trim() }),
      ...(email !== person.email && { email }),
      ...(passwordHash !== undefined && { passwordHash }),
    };
    // While the new one was hashed, a link may have set another: a stolen session must not win over it.
    const changed = await this.#members.change(
      person.id,
      change,
      personActor(person),
      this.#nowMs(),
      verifiedHash,
    );
    if (passwordHash === undefined) return { person: changed, entered: undefined };
    await this.#logins.endAll(person.id);
    return { person: changed, entered: await this.#begin(changed, from) };
  }

  end({ session }: SignedIn): Promise<void> {
    return this.#logins.end(session.id);
  }

  endAll({ session }: SignedIn): Promise<void> {
    return this.#logins.endAll(session.person.id);
  }

  /** The person who accepts. Only the right password tells that the e-mail has an account, or making one that
   * it had none. */
  async #whoAccepts(email: string, sent: Parameters<SignIn["accept"]>[0], from: From) {
    const { name, password } = sent;
    const known = await this.#members.withEmail(email);
    if (known !== undefined && from.before?.session.person.id === known.id) return { id: known.id };
    if (password === undefined) {
      throw new Refusal("password is missing: send that of your account, or a name and a new one.");
    }
    // Before the look at the account, or the answer to a weak password would tell whether there is one.
    if (name !== undefined) refuseGuessable(password, email);
    if (name === undefined || known !== undefined) {
      const verified = this.#check.verified(email, known, password, from, wrongInvited);
      const person = await verified.catch((error: unknown) => {
        // A new person takes an e-mail from one who only chose it.
        if (name !== undefined && known !== undefined && withFallbackEmail(known) !== undefined)
          return undefined;
        throw error;
      });
      if (person !== undefined) return { id: person.id };
    }
    if (name === undefined) throw wrongInvited();
    return { name: name.trim(), passwordHash: await this.#check.hash(password, email, from) };
  }

  async #living(kind: LinkKind, code: string): Promise<Link> {
    return (await this.#logins.link(kind, hashCode(code), this.#nowMs())) ?? notValid();
  }

  async #begin(person: Person, { before }: From): Promise<Entered> {
    const { code, sha256 } = newCode();
    if (before !== undefined) await this.#logins.end(before.session.id);
    await this.#logins.begin(person.id, sha256, this.#nowMs());
    return { secret: code, device: newDevice(person), person };
  }
}

/** How long a session lives, in seconds. */
export const sessionSeconds = peopleLimits.sessionDays * 86_400;

function notValid(): never {
  throw new ApiError("not_found", "This link is not valid, or not any more: ask for a new one.");
}

function wrongPassword(): ApiError {
  return new ApiError("invalid_write_key", "The e-mail or the password is wrong.");
}

function wrongInvited(): ApiError {
  const message = "The password is wrong. If you have no account yet, send a name, too.";
  return new ApiError("invalid_write_key", message);
}

/** No 401: the session is as good as before. */
function wrongCurrentPassword(): ApiError {
  return new ApiError("validation_error", "currentPassword is wrong: send the password that you have now.");
}
