/** Queries that need more memory than they may have write groups and sorted rows to the disk. */
import { expect, test } from "bun:test";
import { WarehouseUnderTest } from "./support.ts";

export const runsOn = { disk: true };

const subject = new WarehouseUnderTest();
const rows = 1_500_000;
/** 150 MB of different texts. */
const texts = `SELECT repeat(hex(sipHash64(number)), 5) AS text FROM numbers(${rows})`;
const limits = { maxBytes: 120_000_000, maxSeconds: 120 };

const queries = {
  group: [`SELECT count() AS n FROM (SELECT text, count() FROM (${texts}) GROUP BY text)`, "group_by"],
  sort: [
    `SELECT count() AS n FROM (${texts} ORDER BY text LIMIT ${rows - 1}) WHERE NOT ignore(text)`,
    "sort",
  ],
} as const;

test.each(Object.entries(queries))(
  "a %s beyond the memory of its query is answered",
  async (name, [sql, what]) => {
    const inMemory = `${sql} SETTINGS max_bytes_before_external_${what} = 0`;
    await expect(subject.warehouse.rows(inMemory, {}, limits)).rejects.toThrow("memory limit exceeded");
    expect(await subject.warehouse.rows<{ n: number }>(sql, {}, limits)).toEqual([
      { n: name === "sort" ? rows - 1 : rows },
    ]);
  },
);
