/** Intake's work beside the requests. */

import type { Intake } from "../intake/intake-service.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../process/log.ts";
import { every, type Time } from "../process/time.ts";
import type { Outbox } from "../sending/outbox.ts";

interface ChoreParts {
  readonly ledger: Ledger;
  readonly intake: Intake;
  readonly outbox: Outbox;
  readonly time: Time;
}

interface Chores {
  /** Says that one failed, which will be done again. */
  failed(error: unknown): void;
  stop(): void;
}

/**
 * Begins what intake does by itself, at the intervals of its time.
 * @param recordUse writes down when tokens and keys were used last
 */
export function startChores(
  { ledger, intake, outbox, time }: ChoreParts,
  recordUse: () => Promise<void>,
  log: Logger,
): Chores {
  const failed = (error: unknown): void => log.warn({ err: error }, "a chore failed and will be tried again");
  // A ledger that answers late is not asked by many at once.
  const looking = onceAtATime(() => intake.room.check().catch(failed));
  const tidying = onceAtATime(() => ledger.tidy(time.nowMs()).catch(failed));
  const sending = onceAtATime(() => outbox.sendDue().catch(failed));
  const telling = onceAtATime(() => outbox.tellOwners().catch(failed));
  const { choresMs, countsMs, credentialUseMs } = time.intervals;
  const ends = [
    every(choresMs, () => {
      looking();
      tidying();
      sending();
    }),
    every(countsMs, () => {
      intake.recordWarnings().catch(failed);
      intake.recordSources().catch(failed);
      telling();
    }),
    every(credentialUseMs, () => recordUse().catch(failed)),
  ];
  return {
    failed,
    stop: () => {
      for (const end of ends) end();
    },
  };
}

/** Does nothing while it is still being done. */
function onceAtATime(work: () => Promise<unknown>): () => void {
  let isUnderWay = false;
  return () => {
    if (isUnderWay) return;
    isUnderWay = true;
    void work().finally(() => {
      isUnderWay = false;
    });
  };
}
