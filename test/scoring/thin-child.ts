/**
 * The process that `thin-kill.test.ts` kills: it thins scores out and kills itself after some of the statements.
 *
 *   bun thin-child.ts FOLDER NOW_MS STATEMENTS
 */
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { thinScores } from "../../server/warehouse/upkeep/thin-scores.ts";

const [folder = "", nowMs, statements] = process.argv.slice(2);
const warehouse = await openChdbWarehouse({ folder });
const command = warehouse.command.bind(warehouse);
let left = Number(statements);
warehouse.command = async (...asked) => {
  await command(...asked);
  left -= 1;
  if (left === 0) process.kill(process.pid, "SIGKILL");
};
await thinScores(warehouse, Number(nowMs));
