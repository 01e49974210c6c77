/**
 * The process that `snapshot-kill.test.ts` kills: it writes the snapshots of one day again and again, each time under other
 * settings.
 *
 *   bun snapshot-child.ts FOLDER
 */
import type { Population } from "../../server/scoring/queries/engagement-events.ts";
import { snapshotFor } from "../../server/scoring/snapshots/stored.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { weightedBy } from "./snapshot-kill-support.ts";

const [folder = ""] = process.argv.slice(2);
const warehouse = await openChdbWarehouse({ folder });
for (let weight = 1; ; weight += 1) {
  for (const kind of ["user", "account"] as const) {
    const who: Population = weightedBy(kind, 1 + (weight % 5));
    await snapshotFor(warehouse, who, 100);
    console.log(`written ${weight}`);
  }
}
