/** The API's answers about scores of more than a year, after the service has thinned them out. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Static } from "typebox";
import type { HistoryAnswer, ModelAnswer, MoversAnswer } from "../../contract/api/scores.ts";
import { formatDay, parseDay } from "../../server/calendar/days.ts";
import { warehouseFolder } from "../../server/process/data-folder.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { isKept } from "../../server/warehouse/upkeep/thin-scores.ts";
import { quietZone, todayIn } from "../far-from-midnight.ts";
import { Server } from "../server.ts";
import { answer, newKey } from "../specification/operation-support.ts";
import { becomes } from "../until.ts";

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-thinned-"));
const today = todayIn(quietZone);
const oldDays = 400;
let server: Server;
let key: string;

/** Copies the run of today to each of the days before it. */
async function copyToOldDays(): Promise<void> {
  const warehouse = await openChdbWarehouse({ folder: warehouseFolder(dataDir) });
  for (const [table, condition] of [
    ["user_scores", "true"],
    ["account_scores", "true"],
    ["score_records", "what = 'run'"],
  ]) {
    await warehouse.command(
      `INSERT INTO ${table} SETTINGS insert_deduplicate = 0, max_partitions_per_insert_block = 0
       SELECT * REPLACE (addDays(day, -days) AS day, version - 172800000 AS version
         ${table === "score_records" ? ", rows_version - 172800000 AS rows_version, toUInt64(1) AS first_published_at_ms" : ""})
       FROM (SELECT * FROM ${table} FINAL WHERE ${condition} AND day = addDays(toDate32('1970-01-01'), {today:Int32}))
       ARRAY JOIN range(1, ${oldDays}) AS days`,
      { today },
    );
  }
  await warehouse.close();
}

beforeAll(async () => {
  server = await Server.start({ dataDir });
  await server.ready();
  const token = await server.organization("Acme", "--timezone", quietZone);
  key = await newKey(server, "Acme", "manage");
  const batch = [
    { type: "identify", userId: "ann", email: "ann@example.com", account: { id: "a", name: "A" } },
    ...[oldDays + 30, 9, 2].map((daysAgo) => ({
      type: "track",
      userId: "ann",
      event: "opened",
      timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
    })),
  ];
  const response = await server.post("/batch", token, { batch });
  expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  await server.command("score", "--organization", "Acme");
  await server.kill("SIGTERM");
  await copyToOldDays();
  server = await Server.start({ dataDir });
  await server.ready();
});
afterAll(async () => {
  await server.kill("SIGTERM");
  rmSync(dataDir, { recursive: true });
});

test("a history has the kept days of more than a year, and figures of old days come from the nearest kept run", async () => {
  const kept = Array.from({ length: oldDays }, (_, index) => today - oldDays + 1 + index).filter((day) =>
    isKept(day, today),
  );
  for (const path of ["users/ann", "accounts/a"]) {
    const days = async () =>
      (await answer<Static<typeof HistoryAnswer>>(server, key, `/api/${path}/score/history`)).days.map(
        ({ day }) => parseDay(day) ?? 0,
      );
    await becomes(async () => (await days()).filter((day) => day > today - oldDays), kept);
  }
  const thinned = kept.findLast((day) => day < today - 150 && !isKept(day + 1, today)) ?? 0;
  const since = formatDay(thinned + 1);
  const movers = await answer<Static<typeof MoversAnswer>>(server, key, `/api/movers?since=${since}`);
  expect(movers.sinceDay).toBe(formatDay(thinned));
  const { weeks } = await answer<{ weeks: unknown[] }>(server, key, "/api/health-by-week?weeks=52");
  expect(weeks).toHaveLength(52);
  const model = await answer<Static<typeof ModelAnswer>>(server, key, "/api/model?kind=user");
  expect(model.realised.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(0);
});
