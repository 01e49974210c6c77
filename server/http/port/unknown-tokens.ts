/**
 * Limits requests with an unknown token by client address. A request takes places of its address's bucket
 * when it ends without a known token. A request with a known token takes none. An empty bucket refuses two
 * kinds of requests with 429: a request with an unknown token, and one with more than 64 KiB in which alone
 * its token can be.
 */
import { errorMessages } from "../../../contract/errors.ts";
import { tooMany, unknownToken } from "./answers.ts";
import type { ClientAddresses } from "./client-address.ts";
import type { Connection } from "./handler.ts";
import { Buckets } from "./rate-limit.ts";

const requestsPerSecond = 100;

/** A body takes one more place for each of these bytes: 1 MiB takes 64. */
const bytesOfPlace = 16 * 1024;

export class UnknownTokens {
  readonly #addresses: ClientAddresses;
  readonly #buckets = new Buckets(requestsPerSecond);

  constructor(addresses: ClientAddresses) {
    this.#addresses = addresses;
  }

  /** Divides the limit by the number of nodes. */
  shareOver(nodes: number): void {
    this.#buckets.shareOver(nodes);
  }

  /** The client's address. Each address has one bucket. */
  addressOf(request: Request, connection: Connection): string {
    return this.#addresses.of(request, connection);
  }

  /** Takes the places of a request without a known token from its address's bucket.
   * @param bodyBytes of its body, as far as they were read */
  charge(address: string, bodyBytes: number): void {
    this.#buckets.charge(address, performance.now(), 1 + Math.floor(bodyBytes / bytesOfPlace));
  }

  /** The 429 for an address with an empty bucket; undefined when its request may continue. */
  refusal(request: Request, connection: Connection): Response | undefined {
    const address = this.addressOf(request, connection);
    const waitSeconds = this.#buckets.waitSeconds(address, performance.now());
    return waitSeconds === 0 ? undefined : tooMany(errorMessages.tooManyUnknownTokens, waitSeconds);
  }

  /** The answer to a request without a known token: 429 for an address with an empty bucket, else
   * `otherwise`. */
  answer(
    request: Request,
    connection: Connection,
    {
      bodyBytes = 0,
      otherwise,
    }: { readonly bodyBytes?: number; readonly otherwise?: Response | undefined } = {},
  ): Response {
    const refusal = this.refusal(request, connection);
    if (refusal !== undefined) return refusal;
    this.charge(this.addressOf(request, connection), bodyBytes);
    return otherwise ?? unknownToken();
  }
}
