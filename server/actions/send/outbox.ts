/** Messages on their way out: intake's process sends them, so that they leave while analysis is away. */

import type { PrivateDestination } from "../../config.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { Logger } from "../../process/process.ts";
import { PostingThread } from "./posting-thread.ts";
import { Sender } from "./sender.ts";

export interface Outbox {
  /** Private services that the installation allows as destinations. */
  readonly exceptions: readonly PrivateDestination[];
  /** Sends what is due, as far as there is room: about once a second, and when something was added. */
  work(): Promise<unknown>;
  /** Ends what is under way. It is tried again after the next start. */
  stop(): Promise<void>;
}

/** The messages of a ledger. */
export function newOutbox(
  ledger: Pick<Ledger, "deliveries">,
  exceptions: readonly PrivateDestination[],
  log: Logger,
  nowMs: () => number,
): Outbox {
  const poster = new PostingThread(exceptions);
  const sender = new Sender({ ledger, poster, nowMs, random: Math.random, log });
  return {
    exceptions,
    work: () => sender.work(),
    stop: () => {
      poster.stop();
      return sender.settled();
    },
  };
}
