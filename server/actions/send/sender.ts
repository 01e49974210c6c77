/**
 * Sends deliveries that are due. Each is claimed in the ledger, tried, and its outcome recorded. A process that is killed in between
 * leaves a claim that ends after a minute; the delivery is tried again then, with the same id. So each message arrives at
 * least once.
 */
import type { ClaimedDelivery, Ledger } from "../../ledger/ledger.ts";
import type { Logger } from "../../process/process.ts";
import type { Mail } from "./mail.ts";
import { type MessageBody, mailOf, slackBody } from "./message-body.ts";
import type { Message } from "./post.ts";
import type { Poster } from "./posting-thread.ts";
import { verdictOf } from "./retry-times.ts";
import { signedHeaders } from "./signature.ts";

export interface SenderParts {
  readonly ledger: Pick<Ledger, "deliveries">;
  readonly poster: Poster;
  /** Of the service, as people reach it. */
  readonly address: () => string;
  readonly nowMs: () => number;
  /** In [0, 1): spreads retries. */
  readonly random: () => number;
  readonly log: Logger;
}

/** Messages under way, of this process and of one destination. */
const underWay = { most: 256, perDestination: 4 } as const;

export class Sender {
  readonly #parts: SenderParts;
  readonly #sending = new Set<Promise<void>>();

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Begins what is due, as far as there is room. Called about once a second.
   * @returns how many messages were begun */
  async work(): Promise<number> {
    const room = underWay.most - this.#sending.size;
    if (room <= 0) return 0;
    const { ledger, nowMs } = this.#parts;
    const claimed = await ledger.deliveries.claim(room, underWay.perDestination, nowMs());
    for (const one of claimed) this.#begin(one);
    return claimed.length;
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#sending);
  }

  #begin(claimed: ClaimedDelivery): void {
    const sending = this.#send(claimed)
      .catch((error: unknown) => {
        const { id } = claimed.delivery;
        this.#parts.log.warn({ err: error, delivery: id }, "a delivery is tried again in a minute");
      })
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  async #send({ delivery, destination }: ClaimedDelivery): Promise<void> {
    const { ledger, poster, address, nowMs, random } = this.#parts;
    const sent = await poster.post(messageOf({ delivery, destination }, address(), nowMs()));
    const isMail = destination.kind === "email";
    const verdict = verdictOf({ ...sent, isMail }, delivery.tries + 1, random());
    await ledger.deliveries.tried(delivery.id, { ...sent, verdict }, nowMs());
  }
}

function messageOf(
  { delivery, destination }: ClaimedDelivery,
  service: string,
  nowMs: number,
): Message | Mail {
  const { id: number, address, kind, secrets } = destination;
  const { messageId: id, body } = delivery;
  const said = () => JSON.parse(body) as MessageBody;
  switch (kind) {
    case "email":
      return mailOf(said(), address, `${service}/api/unsubscribe/${number}/${secrets[0] ?? ""}`);
    case "slack":
      return { address, headers: { "content-type": "application/json" }, body: slackBody(said()) };
    case "webhook":
      return {
        address,
        headers: signedHeaders({ id, sentAtS: Math.floor(nowMs / 1_000), body }, secrets),
        body,
      };
  }
}
