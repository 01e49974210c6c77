/**
 * How often an address may send requests whose token no organization has. A request takes places of its address's bucket
 * when it ends without a known token, and never when its token is known. An empty bucket refuses two kinds of requests with
 * 429: those whose token is looked up and not found, and those whose body would have to be read to find a token.
 */
import { errorMessages } from "../../../contract/errors.ts";
import { tooMany, unknownToken } from "./answers.ts";
import type { ClientAddresses } from "./client-address.ts";
import type { Connection } from "./handler.ts";
import { Buckets } from "./rate-limit.ts";

const requestsPerSecond = 100;

/** A body that was read for nothing takes as many places more as it has pieces of this size: 1 MiB takes 64. */
const bytesOfPlace = 16 * 1024;

export class UnknownTokens {
  readonly #addresses: ClientAddresses;
  readonly #buckets = new Buckets(requestsPerSecond);

  constructor(addresses: ClientAddresses) {
    this.#addresses = addresses;
  }

  /** Shares the limit out over so many nodes from now on. */
  shareOver(nodes: number): void {
    this.#buckets.shareOver(nodes);
  }

  /** The client's address, whose bucket it is. */
  addressOf(request: Request, connection: Connection): string {
    return this.#addresses.of(request, connection);
  }

  /** Takes the places of a request without a known token from its address's bucket.
   * @param bodyBytes of its body, as far as they were read */
  charge(address: string, bodyBytes: number): void {
    this.#buckets.charge(address, performance.now(), 1 + Math.floor(bodyBytes / bytesOfPlace));
  }

  /** The 429 for an address whose bucket is empty; undefined when its request may go on. */
  refusal(request: Request, connection: Connection): Response | undefined {
    const address = this.addressOf(request, connection);
    const waitSeconds = this.#buckets.waitSeconds(address, performance.now());
    return waitSeconds === 0 ? undefined : tooMany(errorMessages.tooManyUnknownTokens, waitSeconds);
  }

  /** The answer to a request without a known token: 429 for an address whose bucket is empty, else what is given. */
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
