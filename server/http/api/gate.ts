/** Sessions at the public port: authentication, rate limits, and the rights in an organization. Routes of
 * intake and figures of analysis share it. */

import { errorMessages } from "../../../contract/errors.ts";
import { organizationParameter } from "../../../contract/members.ts";
import { ApiError } from "../../../contract/refusal.ts";
import type { Role } from "../../../contract/roles.ts";
import { type Actor, personActor } from "../../ledger/audit.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Right, RightOfTokens } from "../../ledger/stores/credentials.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { deviceOf, personOfDevice } from "../../members/devices.ts";
import { type MemberRight, roleRights } from "../../members/rights.ts";
import type { From, SignedIn, SignIn } from "../../members/sign-in.ts";
import type { ClientAddresses } from "../port/client-address.ts";
import type { Connection } from "../port/handler.ts";
import type { PageHost } from "../port/page-host.ts";
import { Buckets } from "../port/rate-limit.ts";
import { refuseForeign, type SentCookie, sentCookie } from "./session-cookie.ts";

/** A person's membership in the organization that the request names, or the organization of a read key. */
export interface Place {
  readonly organization: Organization;
  /** Null of a read key. */
  readonly role: Role | null;
  readonly rights: readonly MemberRight[];
  readonly actor: Actor;
}

/** Of one person, and of an address or a browser without a session: to sign in, and for everything else. */
const requestsPerSecond = { person: 100, address: 20, signIn: 50 } as const;

export interface GateParts {
  readonly people: Ledger["members"];
  readonly signIn: SignIn;
  readonly addresses: ClientAddresses;
  readonly publicUrl: string;
  /** The path in it: empty or `/rekindle`. */
  readonly basePath: string;
  readonly host: PageHost;
  readonly nowMs: () => number;
}

export class PeopleGate {
  readonly #parts: GateParts;
  readonly #persons = new Buckets(requestsPerSecond.person);
  readonly #addresses = new Buckets(requestsPerSecond.address);
  readonly #signIns = new Buckets(requestsPerSecond.signIn);

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Shares every limit out over so many nodes from now on. */
  shareOver(nodes: number): void {
    this.#persons.shareOver(nodes);
    this.#addresses.shareOver(nodes);
    this.#signIns.shareOver(nodes);
  }

  /** The request's cookie. It came by https if that is the service's address, or a trusted proxy says so. */
  sent(request: Request, connection: Connection): SentCookie {
    const { addresses, publicUrl, basePath } = this.#parts;
    const isSecure = publicUrl.startsWith("https:") || addresses.isHttps(request, connection);
    return sentCookie(request, { isSecure, basePath });
  }

  /** Where the request comes from, and the session that it has.
   * @param isSignIn whether it is to sign in, which other requests from the same address shall not hinder
   * @throws ApiError when it comes too often */
  async from(request: Request, connection: Connection, sent: SentCookie, isSignIn = false): Promise<From> {
    const address = this.#parts.addresses.of(request, connection);
    const before = await this.signedIn(sent);
    const nowMs = performance.now();
    const waitSeconds =
      before !== undefined
        ? this.#persons.take(String(before.session.person.id), nowMs)
        : isSignIn
          ? this.#signIns.take((await this.#browser(sent)) ?? address, nowMs)
          : this.#addresses.take(address, nowMs);
    if (waitSeconds > 0)
      throw new ApiError("rate_limit_exceeded", errorMessages.tooManyRequests, waitSeconds);
    return { address, before, device: sent.device, signal: request.signal };
  }

  /** The browser that a request comes from, when a person has signed in there. */
  async #browser({ device }: SentCookie): Promise<string | undefined> {
    if (device === undefined) return undefined;
    const person = await this.#parts.people.find(personOfDevice(device));
    const known = person && deviceOf(person, device);
    return known && `browser ${known}`;
  }

  /** The session that the request has. */
  async signedIn({ secret }: SentCookie): Promise<SignedIn | undefined> {
    return secret === undefined ? undefined : this.#parts.signIn.find(secret);
  }

  /** The answer to what another site's page may have sent. */
  refuseForeign(request: Request, isSession: boolean): Response | undefined {
    const isElsewhere = this.#parts.host.refuse(request);
    if (isElsewhere !== undefined) return isElsewhere;
    return refuseForeign(request, this.#parts.publicUrl, isSession);
  }

  /** The answer to a change by a read key that another site's page may have sent: a browser sends a key again
   * that was typed into an address. */
  refuseForeignKey(request: Request): Response | undefined {
    return refuseForeign(request, this.#parts.publicUrl, false);
  }

  /** The person's place in the organization that the parameters name, which is taken out of them.
   * @throws ApiError alike when there is none and when the person is no member */
  async place({ session }: SignedIn, parameters: URLSearchParams): Promise<Place> {
    const named = parameters.getAll(organizationParameter);
    parameters.delete(organizationParameter);
    const [text = ""] = named;
    if (named.length !== 1) {
      throw new ApiError("validation_error", "organization is missing, or there twice: send its id.");
    }
    const id = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
    const membership = await this.#parts.people.membership(session.person.id, id, this.#parts.nowMs());
    if (membership === undefined) throw new ApiError("not_found", errorMessages.noSuchOrganization);
    const { organization, role } = membership;
    return { organization, role, rights: roleRights[role], actor: personActor(session.person) };
  }
}

/** The rights of a read key among those of members. */
export function rightsOfKey(rights: readonly Right[]): readonly MemberRight[] {
  return rights.filter(
    (right): right is Exclude<Right, RightOfTokens> =>
      right !== "write" && right !== "browser" && right !== "join",
  );
}
