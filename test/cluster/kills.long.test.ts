/** Three nodes, of which one is killed, and PostgreSQL, which is restarted. test/long/cluster.long.test.ts
 * has more failures. */
import { expect, test } from "bun:test";
import { survive } from "./killing.ts";

test("an event that any of three nodes acknowledged is stored once, whatever is killed", async () => {
  expect(await survive(["kill a node", "restart PostgreSQL"], 60)).toEqual([]);
});
