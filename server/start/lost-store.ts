/**
 * Refuses a data folder that has lost one of its two stores, as after a volume that was not mounted or half a
 * restore. An empty ledger beside a full warehouse would number users anew, and show them others' events; an
 * empty warehouse would show nothing of what the ledger has taken.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../../contract/refusal.ts";

const why = "A volume may not be mounted, or a restore not be complete. Put it back.";

/** @param ledger the file of the ledger, which is made when it is absent @param warehouse the folder of the
 * warehouse
 * @throws Refusal when only the warehouse has data */
export function refuseLostLedger(ledger: string, warehouse: string): void {
  if (existsSync(ledger) || !hasUsers(warehouse)) return;
  throw new Refusal(
    `${ledger} is missing, and ${warehouse} has users. ${why} To begin with nothing, remove ${warehouse}.`,
  );
}

/** @param loadedUpto the newest row of the inbox that is in the warehouse; 0 before any is
 * @throws Refusal when the warehouse is gone */
export function refuseLostWarehouse(loadedUpto: number, warehouse: string): void {
  if (loadedUpto === 0 || existsSync(join(warehouse, "metadata"))) return;
  throw new Refusal(
    `${warehouse} has no tables, and the ledger has loaded ${loadedUpto} rows into them. ${why} ` +
      "A backup is restored into an empty folder: rekindle restore.",
  );
}

/** Whether there is a part of the table of users, by the engine's names: 2026_1_4_1. */
function hasUsers(warehouse: string): boolean {
  const table = join(warehouse, "data/default/users");
  return existsSync(table) && readdirSync(table).some((name) => /_\d+_\d+_\d+$/.test(name));
}
