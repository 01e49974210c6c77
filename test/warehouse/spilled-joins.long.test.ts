/** Joins of the embedded warehouse that need more memory than they may have are written to the disk. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { eventsByValue } from "../../server/analytics/events-by-value.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { msPerDay, WarehouseUnderTest } from "./support.ts";

export const runsOn = { disk: true };

const subject = new WarehouseUnderTest();
const users = 1_000_000;
const toDay = Math.floor(Date.UTC(2026, 2, 2) / msPerDay);

/** The warehouse with so much memory for each query, and with more settings for it. */
function limited(settings: string): Warehouse {
  const { warehouse } = subject;
  return {
    ...warehouse,
    topology: warehouse.topology,
    rows: (sql, parameters) =>
      warehouse.rows(`${sql}${settings}`, parameters, { maxBytes: 250_000_000, maxSeconds: 300 }),
  };
}

test("events of a million users by a trait of which each has its own value", async () => {
  const organization = subject.newOrganization();
  const tables = [
    `INSERT INTO users (organization, user, traits)
     SELECT {organization:UInt32}, number, concat('{"externalId":"crm-', toString(number), repeat('x', 200), '"}')`,
    `INSERT INTO user_event_days (organization, user, day, event, count)
     SELECT {organization:UInt32}, number, toDate32('2026-03-02'), 'opened', 2`,
  ];
  for (const insert of tables) {
    await subject.warehouse.command(
      `${insert} FROM numbers(${users})`,
      { organization },
      { maxSeconds: 300 },
    );
  }
  const question = { organization, event: "opened", top: 3, by: "trait", key: "externalId" } as const;
  const period = { period: "day", periods: 1, toDay, weekStart: 1 } as const;
  const ask = (settings: string) => eventsByValue(limited(settings), { ...question, ...period });
  const inMemory = ["join", "group_by", "sort"]
    .map((what) => `, max_bytes_before_external_${what} = 0`)
    .join("");
  await expect(ask(inMemory)).rejects.toThrow("memory limit exceeded");
  const names = new Set<string>();
  const folder = join(subject.folder, "warehouse", "tmp");
  const watching = setInterval(() => {
    for (const name of readdirSync(folder)) names.add(name);
  }, 20);
  const groups = await ask("");
  clearInterval(watching);
  expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(2 * users);
  expect(groups.reduce((sum, one) => sum + one.users, 0)).toBe(users);
  expect(names.size).toBeGreaterThan(0);
  expect(readdirSync(folder)).toEqual([]);
});
