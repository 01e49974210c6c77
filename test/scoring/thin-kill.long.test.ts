/** Kills a process with SIGKILL while it thins scores out. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDay } from "../../server/calendar/days.ts";
import { healthByWeek } from "../../server/scoring/queries/lists/health-by-week.ts";
import { historyOf } from "../../server/scoring/queries/lists/reading.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { isKept, thinScores } from "../../server/warehouse/upkeep/thin-scores.ts";
import { msPerDay } from "../warehouse/support.ts";
import { daysIn, fillDays } from "./daily-runs-support.ts";

const today = parseDay("2026-03-12") ?? Number.NaN;
const firstThinned = parseDay("2025-08-01") ?? Number.NaN;
const nowMs = today * msPerDay;
const all = Array.from({ length: today - firstThinned + 1 }, (_, index) => firstThinned + index);
const kept = all.filter((day) => isKept(day, today));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rekindle-thin-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function opened<Result>(work: (warehouse: Warehouse) => Promise<Result>): Promise<Result> {
  const warehouse = await openChdbWarehouse({ folder });
  try {
    return await work(warehouse);
  } finally {
    await warehouse.close();
  }
}

test("a process that is killed between two statements leaves no run without rows, and the next night ends the work", async () => {
  const program = Bun.fileURLToPath(new URL("./thin-child.ts", import.meta.url));
  for (const statements of [1, 2]) {
    const organization = 10 + statements;
    await opened((warehouse) =>
      fillDays(warehouse, { organization, fromDay: firstThinned, toDay: today }, 10),
    );
    const child = Bun.spawn([process.execPath, program, folder, String(nowMs), String(statements)], {
      stdout: "inherit",
      stderr: "inherit",
    });
    await child.exited;
    expect(child.signalCode).toBe("SIGKILL");
    await opened(async (warehouse) => {
      expect(await daysIn(warehouse, "score_records", organization)).toEqual(kept);
      expect(await daysIn(warehouse, "account_scores", organization)).toEqual(all);
      for (const kind of ["user", "account"] as const) {
        const asked = { organization, entity: 1, fromDay: 0, toDay: today };
        expect((await historyOf(warehouse, kind, asked)).map(({ day }) => day)).toEqual(kept);
        const weeks = await healthByWeek(warehouse, { organization, kind, day: today, weeks: 26 });
        expect(weeks.map(({ watch }) => watch)).toEqual(weeks.map(() => 2));
        expect(weeks).toHaveLength(26);
      }
      await thinScores(warehouse, nowMs);
      for (const table of ["score_records", "user_scores", "account_scores"] as const)
        expect(await daysIn(warehouse, table, organization)).toEqual(kept);
    });
  }
}, 180_000);
