/** Intake's work beside the requests. */
import type { Outbox } from "./actions/actions.ts";
import type { Intake } from "./intake/intake.ts";
import type { Ledger } from "./ledger/ledger.ts";
import type { Logger } from "./telemetry/telemetry.ts";

interface Chores {
  /** Says that one failed, which will be done again. */
  failed(error: unknown): void;
  stop(): void;
}

/**
 * Begins what has to be done about once a second, every few seconds, and once a minute.
 * @param recordUse writes down when tokens and keys were used last
 */
export function startChores(
  { ledger, intake, outbox }: { readonly ledger: Ledger; readonly intake: Intake; readonly outbox: Outbox },
  recordUse: () => Promise<void>,
  log: Logger,
): Chores {
  const failed = (error: unknown): void => log.warn({ err: error }, "a chore failed and will be tried again");
  // A ledger that answers late is not asked by many at once.
  const looking = onceAtATime(() => intake.room.check().catch(failed));
  const tidying = onceAtATime(() => ledger.tidy(Date.now()).catch(failed));
  const sending = onceAtATime(() => outbox.work().catch(failed));
  const telling = onceAtATime(() => outbox.tellOwners().catch(failed));
  const everySecond = setInterval(() => {
    looking();
    tidying();
    sending();
  }, 1_000);
  const everyFewSeconds = setInterval(() => {
    intake.recordWarnings().catch(failed);
    intake.recordSources().catch(failed);
    telling();
  }, 5_000);
  const everyMinute = setInterval(() => recordUse().catch(failed), 60_000);
  return {
    failed,
    stop: () => {
      clearInterval(everySecond);
      clearInterval(everyFewSeconds);
      clearInterval(everyMinute);
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
