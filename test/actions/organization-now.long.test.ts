/** The present state of an organization, read from the records of scoring. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { OrganizationReader } from "../../server/features/destinations/organization-now.ts";
import { keepRecord } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { all } from "../scoring/run-support.ts";
import { insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();

test("another run of a day is seen, and a run that ended just before midnight after it", async () => {
  const { warehouse } = subject;
  const id = subject.newOrganization();
  const today = 20_000;
  const organization = {
    id,
    name: "Engines",
    timezone: "UTC",
    zone: new Zone("UTC"),
    settings: defaultSettings,
  };
  await insertEvents(subject, all(id, 3, [today - 40, today - 12, today - 3]));
  let nowMs = (today + 0.5) * msPerDay;
  const score = (day: number) =>
    scoreDay(warehouse, { organization, day, nowMs: () => nowMs, report: () => undefined });
  const sources = { statuses: async () => [] };
  const reader = new OrganizationReader({ warehouse, sources, nowMs: () => nowMs });
  const read = () => reader.readNow(organization as object as Parameters<typeof reader.readNow>[0]);

  expect((await read()).scores).toBeNull();
  await score(today - 1);
  await score(today);
  const morning = (await read()).scores;
  expect(morning).toMatchObject({ day: today, kinds: [{ kind: "user", scored: 3, newModel: null }, {}] });
  expect((await read()).scores).toBe(morning);

  // In the afternoon another model serves.
  const run = await newestRun(warehouse, id, "user", today);
  if (run === undefined) throw new Error("There is no run of users.");
  const { version, body } = run;
  const afternoon = { ...body, rowsVersion: version + 1, choice: { ...body.choice, rung: 3 } } as const;
  await keepRecord(
    warehouse,
    { organization: id, kind: "user", what: "run" },
    { day: today, version: version + 1, body: afternoon },
  );
  expect((await read()).scores?.kinds[0]?.newModel).toEqual({ from: null, to: "logistic" });

  nowMs = (today + 1) * msPerDay + 5_000;
  expect((await read()).scores?.day).toBe(today);
  nowMs += msPerDay;
  expect((await read()).scores).toBeNull();
});
