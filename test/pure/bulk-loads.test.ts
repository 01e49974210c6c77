/** When a load in bulk is written down: at once when it begins, and every few seconds until when it
 * lasted. */
import { expect, test } from "bun:test";
import { BulkLoads } from "../../server/intake/bulk-loads.ts";

const second = 1_000;

/** What is written down by these rows of one organization, each at its instant. @param fails whether the
 * first writing fails */
function noted(fails = false) {
  const written: number[] = [];
  let tries = 0;
  const loads = new BulkLoads({
    noteBulkLoad: async (_organization, atMs) => {
      tries += 1;
      if (fails && tries === 1) throw new Error("the disk is full");
      written.push(atMs);
    },
  });
  const stored = (rows: number, atMs: number) => loads.stored(new Map([[1, rows]]), atMs);
  return { loads, stored, written };
}

test("1,000 rows within 30 s are a load, which is written down at once", async () => {
  const { loads, stored, written } = noted();
  stored(999, second);
  expect(written).toEqual([]);
  stored(1, 2 * second);
  expect(written).toEqual([2 * second]);
  stored(1, 3 * second);
  expect(written).toEqual([2 * second]);
  await loads.flush();
  expect(written).toEqual([2 * second, 3 * second]);
  await loads.flush();
  expect(written).toHaveLength(2);
});

test("rows that trickle in are none", async () => {
  const { loads, stored, written } = noted();
  for (let at = 0; at < 3_600; at += 1) stored(25, at * second);
  await loads.flush();
  expect(written).toEqual([]);
});

test("the next load is written down at once, too", async () => {
  const { loads, stored, written } = noted();
  stored(1_000, 0);
  await loads.flush();
  stored(1_000, 3_600 * second);
  expect(new Set(written)).toEqual(new Set([0, 3_600 * second]));
});

test("what could not be written is written later", async () => {
  const { loads, stored, written } = noted(true);
  stored(5_000, second);
  await loads.flush();
  expect(written).toEqual([second]);
});

test("of rows that are spread over three nodes, the node with the most notes the load", async () => {
  const nodes = [333, 333, 334].map((rows) => ({ rows, ...noted() }));
  for (const { loads, stored, rows } of nodes) {
    loads.shareOver(3);
    stored(rows, second);
  }
  expect(nodes.map(({ written }) => written)).toEqual([[], [], [second]]);
});
