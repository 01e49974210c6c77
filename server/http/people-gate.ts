/** Who is signed in, how often they ask, and what they may do in which organization: the same for the routes that
 * intake answers and for the figures that it asks analysis for. */
import { errorMessages } from "../../contract/errors.ts";
import { organizationParameter } from "../../contract/people.ts";
import type { Role } from "../../contract/roles.ts";
import { Denied } from "../dashboard/denied.ts";
import { type MemberRight, roleRights } from "../dashboard/rights.ts";
import type { From, SignedIn, SignIn } from "../dashboard/sign-in.ts";
import { type Actor, personActor } from "../ledger/audit.ts";
import type { Ledger, Organization } from "../ledger/ledger.ts";
import { Buckets } from "./buckets.ts";
import type { ClientAddresses } from "./client-address.ts";
import type { Connection } from "./routes.ts";
import { refuseForeign, type SentCookie, sentCookie, setCookie } from "./session-cookie.ts";

/** A person's place in the organization that the request is about. */
export interface Place {
  readonly organization: Organization;
  readonly role: Role;
  readonly rights: readonly MemberRight[];
  readonly actor: Actor;
}

/** Of one person, and of an address from which nobody is signed in. */
const requestsPerSecond = { person: 100, address: 20 } as const;

export interface GateParts {
  readonly people: Ledger["people"];
  readonly signIn: SignIn;
  readonly addresses: ClientAddresses;
  readonly publicUrl: string;
  readonly nowMs: () => number;
}

export class PeopleGate {
  readonly #parts: GateParts;
  readonly #persons = new Buckets(requestsPerSecond.person);
  readonly #addresses = new Buckets(requestsPerSecond.address);

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Shares every limit out over so many nodes from now on. */
  shareOver(nodes: number): void {
    this.#persons.shareOver(nodes);
    this.#addresses.shareOver(nodes);
  }

  /** The request's cookie. It came by https if that is the service's address, or a trusted proxy says so. */
  sent(request: Request, connection: Connection): SentCookie {
    const { addresses, publicUrl } = this.#parts;
    const isSecure = publicUrl.startsWith("https:") || addresses.isHttps(request, connection);
    return sentCookie(request, isSecure);
  }

  /** Where the request comes from, and the session that it has. @throws Denied when it comes too often */
  async from(request: Request, connection: Connection, sent: SentCookie): Promise<From> {
    const address = this.#parts.addresses.of(request, connection);
    const before = await this.signedIn(sent);
    const waitSeconds =
      before === undefined
        ? this.#addresses.take(address, performance.now())
        : this.#persons.take(String(before.session.person.id), performance.now());
    if (waitSeconds > 0) throw new Denied("rate_limit_exceeded", errorMessages.tooManyRequests, waitSeconds);
    return { address, before, signal: request.signal };
  }

  /** The session that the request has. */
  async signedIn({ secret }: SentCookie): Promise<SignedIn | undefined> {
    return secret === undefined ? undefined : this.#parts.signIn.find(secret);
  }

  /** The answer to what another site's page may have sent. */
  refuseForeign(request: Request, isSession: boolean): Response | undefined {
    return refuseForeign(request, this.#parts.publicUrl, isSession);
  }

  /** The person's place in the organization that the parameters name, which is taken out of them.
   * @throws Denied alike when there is none and when the person is no member */
  async place({ session }: SignedIn, parameters: URLSearchParams): Promise<Place> {
    const named = parameters.getAll(organizationParameter);
    parameters.delete(organizationParameter);
    const [text = ""] = named;
    if (named.length !== 1) {
      throw new Denied("validation_error", "organization is missing, or there twice: send its id.");
    }
    const id = /^[0-9]{1,15}$/.test(text) ? Number(text) : 0;
    const membership = await this.#parts.people.membership(session.person.id, id, this.#parts.nowMs());
    if (membership === undefined) throw new Denied("not_found", errorMessages.noSuchOrganization);
    const { organization, role } = membership;
    return { organization, role, rights: roleRights[role], actor: personActor(session.person) };
  }

  /** The header that lets the cookie live as long as its session; undefined while both do. */
  renewedCookie({ secret, isSecure }: SentCookie, { renewed }: SignedIn): string | undefined {
    return renewed ? setCookie(secret, isSecure) : undefined;
  }
}
