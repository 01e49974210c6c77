/** The preview of a churn horizon back-tests at as many cut-offs as a training. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { previewSettings } from "../../server/scoring/preview/preview.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { on } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
/** Just enough for five cut-offs of 14 days. */
const [firstDay, today] = [1_000, 1_260];

test("the figures of both horizons are those of the runs before and after", async () => {
  const { warehouse } = subject;
  const id = subject.newOrganization();
  // Each comes every 3 to 10 days, and some stay away for a month at a time.
  const users = Array.from({ length: 24 }, (_, index) => index + 1);
  const isAway = (user: number, day: number) => user % 2 === 0 && (day + 9 * user) % 90 < 35;
  const events = users.flatMap((user) =>
    Array.from({ length: today - firstDay }, (_, index) => firstDay + index)
      .filter((day) => (day + user) % (3 + (user % 8)) === 0 && !isAway(user, day))
      .map((day) => on(id, user, day)),
  );
  await insertEvents(subject, events);
  const before = defaultSettings;
  const after = { ...defaultSettings, churnHorizonDays: 14 as const };
  const scored = async (settings: typeof before | typeof after) => {
    const organization = { id, zone, settings };
    await scoreDay(warehouse, { organization, day: today, report: () => undefined, nowMs: Date.now });
    const run = await newestRun(warehouse, id, "user", today);
    return run?.body.backtest.folds ?? 0;
  };
  const foldsBefore = await scored(before);
  const [preview] = await previewSettings(warehouse, {
    organization: { id, zone },
    day: today,
    before,
    after,
  });
  const foldsAfter = await scored(after);
  expect(foldsAfter).toBeGreaterThan(4);
  const { horizons } = preview ?? {};
  expect([horizons?.before.cutoffs, horizons?.after.cutoffs]).toEqual([foldsBefore, foldsAfter]);
});
