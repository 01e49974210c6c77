/** Runs over hardly anybody, or over people who are all alike: finite scores, and the rung that so little
 * data allows. */
import { describe, expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { type KindSummary, scoreDay } from "../../server/scoring/run/score-day.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { all, on, scoresOf } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const settings = defaultSettings;

function score(id: number, day: number): Promise<KindSummary[]> {
  const request = { organization: { id, zone, settings }, day, report: () => undefined, nowMs: Date.now };
  return scoreDay(subject.warehouse, request);
}

describe("a run", () => {
  test.each<readonly [string, 1 | null, (organization: number) => EventRow[]]>([
    ["one user on one day", null, (id) => [on(id, 1, 99)]],
    ["five users", null, (id) => [1, 2, 3, 4, 5].map((each) => on(id, each, 60 + each))],
    [
      "everybody every day",
      1,
      (id) =>
        all(
          id,
          80,
          Array.from({ length: 60 }, (_, index) => 40 + index),
        ),
    ],
    ["everybody silent for long", 1, (id) => all(id, 80, [10, 11, 12])],
    ["a single week", null, (id) => all(id, 80, [94, 96])],
  ])("of %s has finite scores, and rung %p", async (_title, rung, eventsOf) => {
    const organization = subject.newOrganization();
    await insertEvents(subject, eventsOf(organization));
    const [users] = await score(organization, 100);
    const rows = await scoresOf(subject, organization, "user", 100);
    expect(rows).toHaveLength(users?.entities ?? -1);
    expect(users?.rung).toBe(rung);
    for (const row of rows) {
      for (const name of ["engagement", "health"]) expect(row[name]).toBeWithin(0, 100.0001);
      if (row.state === "churned" || rung === null) expect(row.risk).toBeNull();
      else expect(row.risk).toBeWithin(0, 1.0000001);
    }
  });

  test("of an empty organization writes nothing", async () => {
    const organization = subject.newOrganization();
    expect(await score(organization, 100)).toEqual([]);
    await insertEvents(subject, [on(organization, 1, 100)]);
    expect(await score(organization, 100)).toEqual([]);
  });
});
