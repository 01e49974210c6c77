/**
 * Sends deliveries that are due. Each is claimed in the ledger, sent, and its outcome recorded. A process that ends in between
 * leaves a claim that ends after a minute. The delivery is then sent again with the same id. So each message arrives at
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
  /** By the id of the delivery. */
  readonly #sending = new Map<number, Promise<void>>();

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
    // A clock that jumps ends claims of deliveries that are still under way here.
    const begun = claimed.filter(({ delivery }) => !this.#sending.has(delivery.id));
    for (const one of begun) this.#begin(one);
    return begun.length;
  }

  /** Waits until nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#sending.values());
  }

  #begin(claimed: ClaimedDelivery): void {
    const { id } = claimed.delivery;
    const sending = this.#send(claimed)
      .catch((error: unknown) => {
        this.#parts.log.warn({ err: error, delivery: id }, "a delivery is sent again in a minute");
      })
      .finally(() => this.#sending.delete(id));
    this.#sending.set(id, sending);
  }

  async #send({ delivery, destination }: ClaimedDelivery): Promise<void> {
    const { ledger, poster, address, nowMs, random } = this.#parts;
    const sent = await poster.post(messageOf({ delivery, destination }, address(), nowMs()));
    // The claim ends by itself, so that the next start sends it.
    if (sent === null) return;
    const isMail = destination.kind === "email";
    const verdict = verdictOf({ ...sent, isMail }, delivery.attempts + 1, random());
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
