/** Three nodes that are killed again and again, and PostgreSQL, which is restarted again and again. */
import { expect, test } from "bun:test";
import { type Blow, survive } from "../cluster/killing.ts";

test("an event that any of three nodes acknowledged is stored once, after many kills and restarts", async () => {
  const blows: Blow[] = ["kill a node", "restart PostgreSQL", "kill a node", "kill a node"];
  expect(await survive([...blows, ...blows], 300)).toEqual([]);
});
