/** The model of intake on PostgreSQL, where the answer is known without it. */
import { expect, test } from "bun:test";
import { type GroupCost, type Shape, simulate } from "../bench/scale-model.ts";

const cost: GroupCost = { nodeMs: 1, databaseMs: 1, flushMs: 2, wayMs: 1 };
const apart: Shape = { nodes: 1, sendersOfNode: 1, threads: "each", databaseCores: 4, isOneMachine: false };

/** Within a twentieth. */
function about(value: number, expected: number): void {
  expect(value / expected).toBeGreaterThan(0.95);
  expect(value / expected).toBeLessThan(1.05);
}

test("a single sender needs the sum of all that a group takes", () => {
  const { groupsPerSecond, medianMs } = simulate(cost, apart);
  about(groupsPerSecond, 1_000 / 5);
  about(medianMs, 5);
});

test("many nodes get what the database's cores can do, and fill them", () => {
  const { groupsPerSecond, busy } = simulate(cost, { ...apart, nodes: 20, sendersOfNode: 8 });
  about(groupsPerSecond, 4_000);
  about(busy.cores, 1);
});

test("a node with many senders gets what its thread can do", () => {
  const { groupsPerSecond, busy } = simulate(cost, { ...apart, sendersOfNode: 32 });
  about(groupsPerSecond, 1_000);
  about(busy.thread, 1);
});

test("one sync of the log serves all who wait, so that it bounds the time of a group and not their number", () => {
  const slow = { nodeMs: 0.01, databaseMs: 0.01, flushMs: 10, wayMs: 0 };
  const few = simulate(slow, { ...apart, nodes: 10 });
  const many = simulate(slow, { ...apart, nodes: 100 });
  about(many.groupsPerSecond, 10 * few.groupsPerSecond);
  expect(many.medianMs).toBeLessThan(22);
});

test("the same figures give the same answer", () => {
  expect(simulate(cost, apart)).toEqual(simulate(cost, apart));
});
