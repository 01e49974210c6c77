/** Readings of many users take little memory of the engine: a statement that copied arrays for each day
 * failed at 8,000 users. */
import { beforeAll, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import type { ScoreCondition } from "../../server/features/alerts/rules/conditions.ts";
import { readingsOf } from "../../server/features/alerts/rules/readings.ts";
import type { Parameter, Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { storeRuns } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const organization = 1;
const [users, firstDay, dayCount] = [4_000, 20_000, 80];

beforeAll(async () => {
  await subject.warehouse.command(
    `INSERT INTO user_scores (organization, day, user, version, state, colour, risk, health, tenure_days, n, volume_28)
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), day), user, 1000, 'active', 'watch',
       cityHash64(user, day) % 100 / 100, cityHash64(day, user) % 100, 200, 20, cityHash64(user, day) % 50
     FROM (SELECT toUInt32(number + 1) AS user, {firstDay:Int32} + arrayJoin(range(80)) AS day FROM numbers({users:UInt32}))`,
    { organization, firstDay, users },
  );
  const days = Array.from({ length: dayCount }, (_, at) => firstDay + at);
  await storeRuns(subject.warehouse, { organization, kind: "user", days });
});

const conditions: readonly ScoreCondition[] = [
  { kind: "riskBand", band: "high" },
  { kind: "healthBelow", below: 30 },
  { kind: "riskUp", by: 0.2, days: 7 },
  { kind: "healthDown", by: 25, days: 28 },
  { kind: "usageDown", percent: 50 },
];

test.each(conditions.map((condition) => [condition.kind, condition] as const))("%s", async (_, condition) => {
  const asked = {
    organization: { id: organization, zone: new Zone("UTC") },
    kind: "user" as const,
    condition,
  };
  const question = { ...asked, fromDay: firstDay + 30, toDay: firstDay + dayCount - 1 };
  const { entities } = await readingsOf(limited(subject.warehouse), question);
  expect([...entities]).toHaveLength(users);
});

/** The warehouse with 120 MB for each query. */
function limited(warehouse: Warehouse): Warehouse {
  const rows = <Row>(sql: string, parameters?: Record<string, Parameter>) =>
    warehouse.rows<Row>(sql, parameters, { maxBytes: 120_000_000 });
  return Object.assign(Object.create(warehouse), { rows });
}
