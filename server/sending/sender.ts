/**
 * Sends deliveries that are due. Each is claimed in the ledger, sent, and its outcome recorded. A process
 * that ends in between leaves a claim that ends after a minute. The delivery is then sent again with the same
 * id. So each message arrives at least once. A webhook that got a message gets the next ones at once, others
 * within a second.
 */

import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../process/log.ts";
import type { ClaimedDelivery, TriedDelivery } from "./deliveries.ts";
import type { Mail } from "./mail.ts";
import { type MessageBody, mailOf } from "./message-body.ts";
import type { Message } from "./post.ts";
import type { Poster } from "./posting-thread.ts";
import { verdictOf } from "./retry-times.ts";
import { signedHeaders } from "./signature.ts";
import { slackBody } from "./slack-body.ts";

export interface SenderParts {
  readonly ledger: Pick<Ledger, "deliveries">;
  readonly poster: Poster;
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: () => string;
  readonly nowMs: () => number;
  /** In [0, 1): spreads retries. */
  readonly random: () => number;
  readonly log: Logger;
}

/** Messages under way, of this process. */
const underWay = {
  most: 256,
  perDestination: 4,
  /** Messages to failing destinations; the rest is kept for destinations that work. */
  failing: 128,
  /** Up to this many messages under way, a webhook that got a message gets the next at once. The rest is kept
   * for destinations that wait. */
  atOnce: 192,
} as const;

/** Outcomes within this time are recorded in one commit, so that any number of fast webhooks cost at most 40
 * commits a second. */
const gatherMs = 25;

interface Outcome extends TriedDelivery {
  /** The webhook that got the message. The next message to Slack or by e-mail waits for the next second,
   * because their servers refuse many messages a second. */
  readonly webhook: number | null;
}

export class Sender {
  readonly #parts: SenderParts;
  /** By the id of the delivery. */
  readonly #sending = new Map<
    number,
    ClaimedDelivery & { readonly begunMs: number; readonly ended: Promise<void> }
  >();
  #outcomes: Outcome[] = [];
  /** The commit of the outcomes. */
  #recording: Promise<void> | undefined;
  /** The last claim. Claims run one after another, so that each knows how much room there is. */
  #claiming: Promise<unknown> = Promise.resolve();
  #isStopped = false;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Begins what is due, as far as there is room. Called about once a second.
   * @returns how many messages were begun */
  sendDue(): Promise<number> {
    return this.#begin(underWay.most);
  }

  /** How many messages are under way, and since when the oldest, in milliseconds of the monotonic clock. */
  get underWay(): { readonly messages: number; readonly sinceMs: number | undefined } {
    const [oldest] = this.#sending.values();
    return { messages: this.#sending.size, sinceMs: oldest?.begunMs };
  }

  /** Begins nothing more, and waits until nothing is under way. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#claiming;
    await Promise.all(Array.from(this.#sending.values(), ({ ended }) => ended));
  }

  /** @param most messages under way. @param only of these destinations */
  #begin(most: number, only?: readonly number[]): Promise<number> {
    const claim = this.#claiming.then(() => this.#claim(most, only));
    this.#claiming = claim.catch(() => undefined);
    return claim;
  }

  async #claim(most: number, only: readonly number[] | undefined): Promise<number> {
    const room = most - this.#sending.size;
    if (room <= 0 || this.#isStopped) return 0;
    const { ledger, nowMs } = this.#parts;
    const { perDestination } = underWay;
    const failing = underWay.failing - this.#failing();
    const claimed = await ledger.deliveries.claim({ most: room, perDestination, failing, only }, nowMs());
    // A clock that jumps ends claims of deliveries that are still under way here.
    const begun = claimed.filter(({ delivery }) => !this.#sending.has(delivery.id));
    for (const one of begun) {
      // In the next microtask: a message that fails at once ends after it is in the map.
      const ended = Promise.resolve(one).then((next) => this.#send(next));
      this.#sending.set(one.delivery.id, { ...one, begunMs: performance.now(), ended });
    }
    return begun.length;
  }

  /** Messages under way to failing destinations. */
  #failing(): number {
    return this.#sending
      .values()
      .reduce((sum, { destination }) => sum + Number(destination.failingSinceMs !== null), 0);
  }

  /** Sends a message, and ends when its outcome is recorded. */
  async #send({ delivery, destination }: ClaimedDelivery): Promise<void> {
    const { poster, address, nowMs, random, log } = this.#parts;
    const { id } = delivery;
    try {
      const sent = await poster.post(messageOf({ delivery, destination }, address(), nowMs()));
      // The claim ends by itself, so that the next start sends it.
      if (sent === null) return;
      const isMail = destination.kind === "email";
      const verdict = verdictOf({ ...sent, isMail }, delivery.attempts + 1, random());
      const webhook = verdict.is === "delivered" && destination.kind === "webhook" ? destination.id : null;
      await this.#recorded({ id, ...sent, verdict, webhook });
    } catch (error) {
      log.warn({ err: error, delivery: id }, "a delivery is sent again in a minute");
    } finally {
      this.#sending.delete(id);
    }
  }

  #recorded(outcome: Outcome): Promise<void> {
    this.#outcomes.push(outcome);
    this.#recording ??= Bun.sleep(gatherMs).then(() => this.#record());
    return this.#recording;
  }

  async #record(): Promise<void> {
    const outcomes = this.#outcomes;
    this.#outcomes = [];
    this.#recording = undefined;
    const { ledger, nowMs, log } = this.#parts;
    await ledger.deliveries.tried(outcomes, nowMs());
    // Before the next claim, so that it has their room.
    for (const { id } of outcomes) this.#sending.delete(id);
    const webhooks = new Set(outcomes.flatMap(({ webhook }) => webhook ?? []));
    if (webhooks.size === 0) return;
    this.#begin(underWay.atOnce, [...webhooks]).catch((error: unknown) =>
      log.warn({ err: error }, "messages are claimed within a second"),
    );
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
