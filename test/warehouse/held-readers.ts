/** Questions without an end: a test holds the engine's readers with them for as long as it likes. */
import { askedBy, type Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { becomes, until } from "../until.ts";

/** It would take years, and no processor. */
export const endless =
  "SELECT sum(sleepEachRow(0.05)) AS sum FROM numbers(100000000000) SETTINGS max_block_size = 1, max_threads = 1";
export const forEver = { maxSeconds: 0 };

/** How many endless questions run. */
export async function endlessRunning(warehouse: Warehouse): Promise<number> {
  const sql = "SELECT count() AS count FROM system.processes WHERE query LIKE '%sleepEachRow(0.05)%'";
  const [row] = await warehouse.rows<{ count: number }>(sql);
  // This one is among them.
  return (row?.count ?? 0) - 1;
}

/** The most that one group may hold of the four readers of these tests' warehouses. */
export const readersButOne = 3;

/** Holds all readers but one. The returned function releases them. */
export async function holdReadersButOne(warehouse: Warehouse): Promise<() => Promise<void>> {
  const leaving = new AbortController();
  // One person may hold half of them at most, so each is held by another.
  const holding = (index: number) =>
    askedBy({ group: "holding", member: `person ${index}`, signal: leaving.signal }, warehouse);
  const held = Array.from({ length: readersButOne }, (_, index) => holding(index).rows(endless, {}, forEver));
  const settled = Promise.allSettled(held);
  await until(
    "all readers but one are held",
    () => endlessRunning(warehouse),
    (queries) => queries >= readersButOne,
  );
  return async () => {
    leaving.abort();
    await settled;
    await becomes(() => endlessRunning(warehouse), 0);
  };
}
