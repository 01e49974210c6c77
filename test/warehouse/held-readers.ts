/** Questions without an end: a test holds the engine's readers with them for as long as it likes. */
import { askedBy, type Warehouse } from "../../server/warehouse/warehouse.ts";

/** It would take days. */
export const endless = "SELECT sum(cityHash64(number)) AS sum FROM numbers(1, 100000000000000)";
export const forEver = { maxSeconds: 0 };

/** How many endless questions run. */
export async function endlessRunning(warehouse: Warehouse): Promise<number> {
  const sql = "SELECT count() AS count FROM system.processes WHERE query LIKE '%cityHash64(number)%'";
  const [row] = await warehouse.rows<{ count: number }>(sql);
  // This one is among them.
  return (row?.count ?? 0) - 1;
}

/** What one group may hold at most: all readers but one. */
export function readersButOne({ topology }: Warehouse): number {
  return topology.isEmbedded ? 3 : 7;
}

/** Holds all readers but one; the returned function lets go of them. */
export async function holdReadersButOne(warehouse: Warehouse): Promise<() => Promise<void>> {
  const leaving = new AbortController();
  const holding = askedBy({ group: "holding", member: "all", signal: leaving.signal }, warehouse);
  const count = readersButOne(warehouse);
  const held = Array.from({ length: count }, () => holding.rows(endless, {}, forEver));
  const settled = Promise.allSettled(held);
  while ((await endlessRunning(warehouse)) < count) await Bun.sleep(5);
  return async () => {
    leaving.abort();
    await settled;
    while ((await endlessRunning(warehouse)) > 0) await Bun.sleep(5);
  };
}
