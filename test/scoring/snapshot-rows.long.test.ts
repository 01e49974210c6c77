/** Which entities a snapshot has rows of: those seen, a sample of them, and more that churned beside it. */
import { describe, expect, test } from "bun:test";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, population, randomOrganization } from "./engine-support.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;

describe("the rows", () => {
  test("are everybody seen in 26 weeks if that is asked for", async () => {
    const { organization } = await randomOrganization(subject, "everyone");
    const who = population(organization, "user");
    const day = logDay(200);
    const read = async (everyone: boolean) => {
      const snapshots = await readSnapshots(subject.warehouse, who, [day], { horizonDays, everyone });
      return snapshots.get(day) ?? { cells: [], rows: [] };
    };
    const [some, all] = [await read(false), await read(true)];
    expect(all.rows).toHaveLength(all.cells.reduce((sum, { count }) => sum + count, 0));
    expect(all.rows.length).toBeGreaterThan(some.rows.length);
    expect(all.rows.some(({ features }) => features.idleDays >= horizonDays)).toBe(true);
  });

  test("are a sample when there are too many: at most so many, the same every time, cells of all", async () => {
    const { organization } = await randomOrganization(subject, "sample", 150);
    const who = population(organization, "user");
    const days = [120, 200, 300].map(logDay);
    const read = async (maxRows: number) => [
      ...(await readSnapshots(subject.warehouse, who, days, { horizonDays, maxRows })).values(),
    ];
    const [all, few, again] = [await read(50_000), await read(30), await read(30)];
    expect(few).toEqual(again);
    const count = few.reduce((sum, { rows }) => sum + rows.length, 0);
    expect(count).toBeWithin(20, 31);
    for (const [index, { cells, rows }] of few.entries()) {
      const { cells: allCells, rows: allRows = [] } = all[index] ?? {};
      expect(cells).toEqual(allCells ?? []);
      // Rows with the lowest hashes come first.
      expect(rows).toEqual(allRows.slice(0, rows.length));
    }
  });

  test("have more churned ones beside a sample, and weights by which both classes are as many as in all rows", async () => {
    const { organization } = await randomOrganization(subject, "churned beside", 150);
    const who = population(organization, "user");
    const day = logDay(300);
    const read = async (maxRows: number, trainingDays: readonly number[] = [day]) => {
      const options = { horizonDays, maxRows, trainingDays, everyone: true };
      return (await readSnapshots(subject.warehouse, who, [day], options)).get(day);
    };
    expect((await read(9, []))?.beside).toBeUndefined();
    const all = (await read(50_000))?.rows ?? [];
    expect((await read(50_000))?.beside).toBeUndefined();
    const isChurned = ({ label }: { readonly label: boolean }) => label;
    const counts = [all.filter(isChurned).length, all.filter((row) => !isChurned(row)).length] as const;
    for (const maxRows of [9, 18]) {
      const { rows = [], beside } = (await read(maxRows)) ?? {};
      const { churned = [], churnedWeight = 0, retainedWeight = 0 } = beside ?? {};
      const left = all.slice(rows.length).filter(isChurned);
      expect(left.length).toBeGreaterThan(maxRows / 3);
      expect(rows).toHaveLength(maxRows);
      expect(churned).toEqual(left.slice(0, maxRows / 3));
      const taken = [...rows, ...churned];
      expect(churnedWeight * taken.filter(isChurned).length).toBeCloseTo(counts[0], 9);
      // Of 9 rows none may be retained, and then no weight stands for those that are.
      const retained = rows.filter((row) => !isChurned(row)).length;
      expect(retainedWeight * retained).toBeCloseTo(retained === 0 ? 0 : counts[1], 9);
    }
  });
});
