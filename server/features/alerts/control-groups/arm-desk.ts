/** Answers requests for arms. Requests that arrive during a commit share the next one, because each commit
 * waits for the disk. */
import { errorMessages } from "../../../../contract/errors.ts";
import { ApiError } from "../../../../contract/refusal.ts";
import type { Zone } from "../../../calendar/zone.ts";
import type { Ledger } from "../../../ledger/ledger.ts";
import type { ArmOutcome, ArmQuestion } from "./asked-arms.ts";

/** Requests that are answered together. */
const questionsTogether = 200;
/** With as many waiting the ledger has stopped, and requests are refused. */
const mostWaiting = 2_000;
const retryAfterSeconds = 5;

interface Waiting {
  readonly question: ArmQuestion;
  resolve(outcome: ArmOutcome): void;
  reject(error: unknown): void;
}

/** The questions of an organization. */
interface Queue {
  readonly waiting: Waiting[];
}

interface Asker {
  readonly id: number;
  readonly zone: Zone;
}

export class ArmDesk {
  readonly #ledger: Pick<Ledger, "askedArms" | "settings">;
  readonly #nowMs: () => number;
  /** By organization, while it has questions. */
  readonly #queues = new Map<number, Queue>();

  constructor(ledger: Pick<Ledger, "askedArms" | "settings">, nowMs: () => number) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  /** The arm of a user or an account. A new entry is on disk when it resolves. @throws ApiError while too
   * many questions wait */
  ask(organization: Asker, question: ArmQuestion): Promise<ArmOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<ArmOutcome>();
    const queue = this.#queues.get(organization.id);
    if (queue !== undefined && queue.waiting.length >= mostWaiting)
      throw new ApiError("rate_limit_exceeded", errorMessages.organizationHeld, retryAfterSeconds);
    const waiting = { question, resolve, reject };
    if (queue !== undefined) queue.waiting.push(waiting);
    else void this.#answerAll(organization, { waiting: [waiting] });
    return promise;
  }

  async #answerAll(organization: Asker, queue: Queue): Promise<void> {
    this.#queues.set(organization.id, queue);
    while (queue.waiting.length > 0) {
      // After one turn of the event loop, requests that have already arrived are in the queue.
      await new Promise(setImmediate);
      await this.#answer(organization, queue.waiting.splice(0, questionsTogether));
    }
    this.#queues.delete(organization.id);
  }

  async #answer({ id, zone }: Asker, some: readonly Waiting[]): Promise<void> {
    try {
      const nowMs = this.#nowMs();
      const { churnHorizonDays: horizonDays } = (await this.#ledger.settings.get(id)).settings;
      const clock = { today: zone.dayOf(nowMs), horizonDays, nowMs };
      const questions = some.map(({ question }) => question);
      const outcomes = await this.#ledger.askedArms.ask(id, questions, clock);
      for (const [index, { resolve, reject }] of some.entries()) {
        const outcome = outcomes[index];
        if (outcome === undefined) reject(new Error("A question for an arm has no answer."));
        else resolve(outcome);
      }
    } catch (error) {
      for (const { reject } of some) reject(error);
    }
  }
}
