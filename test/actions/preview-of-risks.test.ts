/** Previews of conditions on the churn risk: over days that had none, and under other limits of risk
 * bands. */
import { expect, test } from "bun:test";
import { previewSentences } from "../../dashboard/pages/alerts/words.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { previewRule } from "../../server/features/alerts/rules/preview.ts";
import { absoluteRiskScale } from "../../server/scoring/scores/risk-scale.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;
const parts = () => ({
  warehouse: subject.warehouse,
  findSegment: () => Promise.reject(new Error("no segment")),
});
const question = (
  organization: number,
  condition: { kind: "riskBand"; band: "high" } | { kind: "healthBelow"; below: number },
) => ({
  organization: { id: organization, zone: new Zone("UTC") },
  scope: { kind: "users" } as const,
  condition,
  cooldownDays: null,
  horizonDays,
  today,
});
const high = { kind: "riskBand", band: "high" } as const;

const daysFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => first + at);
/** Users of which one in four churned on the 50th day. */
function rowsOf(days: readonly number[], riskOn: (day: number, entity: number) => number | null): ScoreRow[] {
  return Array.from({ length: 40 }, (_, at) => at + 1).flatMap((entity) =>
    days.map((day) => {
      const hasChurned = entity % 4 === 0 && day >= today - 39;
      return {
        entity,
        day,
        state: hasChurned ? ("churned" as const) : ("active" as const),
        risk: hasChurned ? null : riskOn(day, entity),
        health: 30,
        volume28: 1,
      };
    }),
  );
}

test("days without a churn risk are not judged, and nobody counts as missed on them", async () => {
  const organization = subject.newOrganization();
  const days = daysFrom(today - 60, today);
  const rows = rowsOf(days, () => null);
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays, rung: null });
  const preview = await previewRule(parts(), question(organization, high));
  expect(preview).toMatchObject({ days: [], daysWithoutRisk: 61, fired: 0, churnedEntities: 0, missed: 0 });
  // Another condition judges all days.
  const ofHealth = await previewRule(parts(), question(organization, { kind: "healthBelow", below: 40 }));
  expect(ofHealth).toMatchObject({ daysWithoutRisk: 0, churnedEntities: 10 });
  expect(ofHealth.days).toHaveLength(61);
});

test("days from the first model on are judged", async () => {
  const organization = subject.newOrganization();
  const [before, after] = [daysFrom(today - 60, today - 5), daysFrom(today - 4, today)];
  const isOver = (day: number, entity: number) => (day >= today - 2 && entity === 1 ? 0.9 : 0.1);
  const stored = { organization, kind: "user", horizonDays } as const;
  await storeDays(subject, { ...stored, days: before, rows: rowsOf(before, () => null), rung: null });
  await storeDays(subject, { ...stored, days: after, rows: rowsOf(after, isOver), rung: 3 });
  const preview = await previewRule(parts(), question(organization, high));
  expect(preview).toMatchObject({
    days: after,
    daysWithoutRisk: 56,
    fired: 1,
    churnedEntities: 0,
    missed: 0,
  });
});

test("stored risks are judged by the limits of risk bands of now", async () => {
  const organization = subject.newOrganization();
  const [before, after] = [daysFrom(today - 60, today - 1), daysFrom(today, today)];
  const risen = (day: number) => (day >= today - 50 ? 0.5 : 0.1);
  const stored = { organization, kind: "user", horizonDays } as const;
  const low = { ...absoluteRiskScale, medium: 0.2, high: 0.4 };
  await storeDays(subject, { ...stored, days: before, rows: rowsOf(before, risen), riskScale: low });
  await storeDays(subject, {
    ...stored,
    days: after,
    rows: rowsOf(after, risen),
    riskScale: { ...low, high: 0.6 },
  });
  expect(await previewRule(parts(), question(organization, high))).toMatchObject({ fired: 0, insideNow: 0 });
  const again = subject.newOrganization();
  const earlier = { ...low, high: 0.6 };
  await storeDays(subject, {
    ...stored,
    organization: again,
    days: before,
    rows: rowsOf(before, risen),
    riskScale: earlier,
  });
  await storeDays(subject, {
    ...stored,
    organization: again,
    days: after,
    rows: rowsOf(after, risen),
    riskScale: low,
  });
  expect(await previewRule(parts(), question(again, high))).toMatchObject({ fired: 40, insideNow: 30 });
});

test("a preview says so in words", () => {
  const nothing = {
    fromDay: null,
    toDay: null,
    scoredDays: 0,
    daysWithoutRisk: 91,
    horizonDays,
    fired: 0,
    entities: 0,
    open: 0,
    insideNow: 0,
    insideBySettings: 0,
    weeks: [],
    churnedEntities: 0,
    missed: 0,
    medianLeadDays: null,
    flapped: 0,
    controlGroups: [],
    precision: { steps: "weekly" as const, mature: 0, churned: 0, rate: null, interval: null },
    baseRate: { count: 0, churned: 0, rate: null },
    note: null,
  };
  expect(previewSentences(nothing, "account")).toEqual([
    "No account had a churn risk on any of the 91 scored days, so none can be judged.",
  ]);
  const some = { ...nothing, fromDay: "2026-08-31", toDay: "2026-09-04", scoredDays: 5, daysWithoutRisk: 86 };
  expect(previewSentences(some, "account")[0]).toStartWith(
    "No account had a churn risk on 86 scored days: the other 5 days from ",
  );
  const note = "The members of the segment Pro are not recorded yet.";
  expect(previewSentences({ ...nothing, daysWithoutRisk: 0, note }, "account")).toEqual([note]);
  expect(previewSentences({ ...some, daysWithoutRisk: 0, note }, "account")[0]).toBe(note);
  const ofGroups = (at20: number | null, at50: number | null) => {
    const controlGroups = [
      { share: 0.2, entries: 2_072, months: at20 },
      { share: 0.5, entries: 1_223, months: at50 },
    ];
    return previewSentences({ ...some, controlGroups }, "account").at(-1);
  };
  expect(ofGroups(11.2, 7)).toBe(
    "A control group would take 12 months at 20%, or 7 months at 50%, to show that the rule saves 30%.",
  );
  expect(ofGroups(31, 20)).toContain("more than two years at 20%, or 20 months at 50%");
  expect(ofGroups(31, 25)).toBe(
    "A control group would prove nothing within two years. Take a wider condition, or none.",
  );
  expect(ofGroups(null, null)).toMatch(/ now\.$/);
});
