/** Users of four plans, two of which they leave much sooner than the others. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { type EventRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { user } from "../ledger/writes.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { randomBeta, randomFrom } from "./random.ts";
import { on, scoresOf } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const users = 300;
const today = 1_000;
const plans = ["trial", "pro", "starter", "enterprise"];

/** They live by BG/BB in weeks: on trial and starter they come often and leave soon. */
function events(organization: number): EventRow[] {
  const random = randomFrom(5);
  return Array.from({ length: users }, (_, index) => {
    const isShort = index % 2 === 0;
    const activity = isShort ? randomBeta(random, 8, 3) : randomBeta(random, 3, 5);
    const leaving = isShort ? randomBeta(random, 3, 12) : randomBeta(random, 1, 60);
    const first = 360 - Math.floor(random() * 360);
    const active: EventRow[] = [];
    for (let week = first; week > 0; week -= 7) {
      const daysAgo = Math.max(1, week - Math.floor(random() * 7));
      if (week === first || random() < activity) active.push(on(organization, index + 1, today - daysAgo));
      if (random() < leaving) break;
    }
    return active;
  }).flat();
}

test("an organization with four plans that differ is scored", async () => {
  const organization = subject.newOrganization();
  await insertEvents(subject, events(organization));
  await subject.insert(
    "user_versions",
    Array.from({ length: users }, (_, index) =>
      userVersionRow(user(organization, `u${index}`, { number: index + 1 }), {
        atMs: 0,
        account: 0,
        traits: { plan: plans[index % 4] ?? "" },
      }),
    ),
  );
  const scored = { id: organization, zone: new Zone("UTC"), settings: defaultSettings };
  await scoreDay(subject.warehouse, {
    organization: scored,
    day: today,
    nowMs: Date.now,
    report: () => undefined,
  });
  const risks = (await scoresOf(subject, organization, "user", today)).map(({ risk }) => risk);
  expect(risks.filter((risk) => risk !== null).length).toBeGreaterThan(100);
});
