/** Read keys at the public port: their limits, and what a request with one may do. The JSON API of intake and
 * that of analysis share it. */
import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { type Actor, readKeyActor } from "../../ledger/audit.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Right } from "../../ledger/stores/credentials.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import { roleRights } from "../../members/rights.ts";
import { failure, tooMany } from "./answers.ts";
import type { Authorizer, Caller } from "./authorize.ts";
import type { Connection } from "./handler.ts";
import type { UnknownTokens } from "./unknown-tokens.ts";

/** The place of a key: its organization and its rights. */
export interface KeyPlace {
  /** The id of the key. */
  readonly key: number;
  readonly organization: Organization;
  readonly rights: readonly Right[];
  readonly actor: Actor;
}

export class ReadKeys {
  readonly #readKeys: Authorizer;
  readonly #tokens: Authorizer;
  readonly #people: Pick<Ledger["members"], "membershipsOf">;
  readonly #unknown: UnknownTokens;
  readonly #nowMs: () => number;

  constructor(
    { readKeys, tokens }: { readonly readKeys: Authorizer; readonly tokens: Authorizer },
    people: Pick<Ledger["members"], "membershipsOf">,
    unknown: UnknownTokens,
    nowMs: () => number,
  ) {
    this.#readKeys = readKeys;
    this.#tokens = tokens;
    this.#people = people;
    this.#unknown = unknown;
    this.#nowMs = nowMs;
  }

  /**
   * Takes a place of the key's bucket. A path that does not exist is no question of the right key: there a
   * project token, which clients of other tools send, is a known key, too.
   * @param hasRoute whether there is something at the request's path
   * @returns the 401 of a request without a valid key, a 429, or the 404 of a known key
   */
  async limit(request: Request, connection: Connection, hasRoute = true): Promise<Response | undefined> {
    const header = request.headers.get("authorization");
    const reader = await this.#readKeys.authorize(header);
    const caller = reader ?? (hasRoute ? undefined : await this.#tokens.authorize(header));
    if (caller === undefined) {
      const otherwise = failure("invalid_write_key", errorMessages.invalidReadKey);
      return this.#unknown.answer(request, connection, { otherwise });
    }
    const { usage } = caller;
    const waitSeconds = usage.bucket.take(performance.now());
    if (waitSeconds > 0) return tooMany(errorMessages.tooManyRequests, waitSeconds, usage.bucket.perSecond);
    usage.lastUsedAtMs = this.#nowMs();
    return hasRoute ? undefined : failure("not_found", errorMessages.apiRouteNotFound);
  }

  /** The place of the request's key. Ask after the body was read: the key may have been revoked meanwhile.
   * @throws ApiError without a valid key */
  async place(request: Request): Promise<KeyPlace> {
    const caller = await this.#readKeys.authorize(request.headers.get("authorization"));
    if (caller === undefined) throw new ApiError("invalid_write_key", errorMessages.invalidReadKey);
    return {
      key: caller.id,
      organization: caller.organization,
      rights: await this.#rightsNow(caller),
      actor: readKeyActor(caller.id),
    };
  }

  /** The key's rights, without those that its maker has no longer: a demoted member would keep them by a key.
   * The role is looked up each time, because other nodes change it. */
  async #rightsNow({ madeBy, organization, rights }: Caller): Promise<readonly Right[]> {
    if (madeBy === null) return rights;
    const memberships = await this.#people.membershipsOf(madeBy);
    const here = memberships.find((membership) => membership.organization.id === organization.id);
    const ofMaker: readonly string[] = here === undefined ? [] : roleRights[here.role];
    return rights.filter((right) => ofMaker.includes(right));
  }
}
