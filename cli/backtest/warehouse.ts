/** A warehouse for one log, with the service's own tables, that is thrown away. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";

/** A signal also removes the folder; shells expect 128 plus the signal's number as the exit code. */
const exitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Opens a warehouse in a temporary folder for the time of `work`. */
export async function withTemporaryWarehouse<Result>(
  work: (warehouse: Warehouse) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-backtest-"));
  // The engine may still be writing, and then a folder is not empty when it should be removed.
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  const stops = Object.entries(exitCodes).map(([signal, exitCode]) => {
    const stop = () => {
      removeUnderEngine(folder, remove);
      process.exit(exitCode);
    };
    process.on(signal, stop);
    return () => process.off(signal, stop);
  });
  try {
    const warehouse = await openChdbWarehouse({ folder });
    try {
      return await work(warehouse);
    } finally {
      await warehouse.close();
    }
  } finally {
    remove();
    for (const off of stops) off();
  }
}

/** The engine's threads end with the process. Until then an insert may create its directories again, so the
 * folder is removed until it stays away for 200 ms, for 5 s at most. */
function removeUnderEngine(folder: string, remove: () => void): void {
  const untilMs = performance.now() + 5_000;
  for (let quiet = 0; quiet < 10 && performance.now() < untilMs; quiet += 1) {
    if (existsSync(folder)) {
      remove();
      quiet = 0;
    }
    Bun.sleepSync(20);
  }
}
