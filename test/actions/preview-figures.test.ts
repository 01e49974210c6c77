/** Figures of a preview from the days of entities: one letter a day, as in the test of the step. */
import { expect, test } from "bun:test";
import { matureDays, previewFigures } from "../../server/features/alerts/rules/preview-figures.ts";
import { replay, replayMoments } from "../../server/features/alerts/rules/replay.ts";
import type { Reading } from "../../server/features/alerts/rules/step.ts";

/** A Monday. */
const firstDay = 20_001 + ((4 - (20_001 % 7) + 7) % 7);
const horizonDays = 7;
const rule = { cooldownDays: 7, exitDays: 2 };

/** `i` inside, `o` out, `c` churned. */
function readings(letters: string): Reading[] {
  return [...letters].map((letter, at) => ({
    day: firstDay + at,
    isInside: letter === "i",
    isInsideAsBefore: letter === "i",
    isOut: letter === "o",
    standing: letter === "c" ? ("churned" as const) : ("present" as const),
  }));
}

const about = (count: number, outages: readonly { from: number; to: number }[] = []) => ({
  days: Array.from({ length: count }, (_, at) => firstDay + at),
  horizonDays,
  outages,
});

const figuresOf = (histories: readonly string[], outages: readonly { from: number; to: number }[] = []) =>
  previewFigures(
    histories.map((letters, entity) => replay(rule, entity, readings(letters))),
    about(21, outages),
  );

test("alerts count by week, with those that churned, flapped and are open", () => {
  const figures = figuresOf([
    "ooiiiiiiccccccccccccc", // churned six days later, and still at the end of the horizon
    "ooiiooooooooooooooooo", // out for two days three days later, and resolved after the cooldown
    "oooooooooooooooooooii", // open, and not mature
    "ooooooooooooooocccccc", // churned without an alert
    "ooiiiiccooooooooooooo", // was back at the end of the horizon
    "ccccccccccccccccccccc",
  ]);
  expect(figures).toMatchObject({ fired: 4, entities: 4, open: 1, flapped: 1, insideBySettings: 0 });
  expect(figures.weeks).toEqual([
    { monday: firstDay, fired: 3 },
    { monday: firstDay + 7, fired: 0 },
    { monday: firstDay + 14, fired: 1 },
  ]);
  expect(figures.precision).toMatchObject({ mature: 3, churned: 1, rate: 1 / 3 });
  expect(figures.precision.interval?.low).toBeWithin(0.05, 0.07);
  expect(figures.medianLeadDays).toBe(6);
  // The churn of day 6 is within a horizon of the first day, so an alert before it may not be known.
  expect([figures.churnedEntities, figures.missed]).toEqual([2, 1]);
});

test.each([
  ["an alert that is open since longer than the horizon", "ooiiiiiiiiiiiiiccccccc", 0],
  [
    "a condition that holds since the first day, which is taken over without an alert",
    "iiiiiiiiiiiiiiiccccccc",
    0,
  ],
  ["an alert that closed more than a horizon before", "ooiioooooooooooocccccc", 1],
  ["no alert", "ooooooooooooooocccccc", 1],
])("of a churn after %s %s is missed", (_, letters, missed) => {
  const taken = readings(letters).map((reading, at) =>
    at === 0 ? { ...reading, standing: "adopted" as const } : reading,
  );
  const figures = previewFigures([replay(rule, 1, taken)], about(22));
  expect([figures.churnedEntities, figures.missed]).toEqual([1, missed]);
});

test("a wider rule misses no more than a narrower one within it", () => {
  let seed = 3;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const histories = Array.from({ length: 400 }, () => {
    let risk = random();
    const length = 10 + Math.floor(random() * 12);
    const risks = Array.from({ length }, () => {
      risk = Math.min(1, Math.max(0, risk + (random() - 0.45) / 4));
      return risk;
    });
    const letters = (from: number) =>
      risks.map((each) => (each >= from ? "i" : each < from - 0.05 ? "o" : "m")).join("") +
      "c".repeat(22 - length);
    return { high: letters(0.7), medium: letters(0.4) };
  });
  const missedBy = (of: "high" | "medium") =>
    previewFigures(
      histories.map((each, entity) =>
        replay(
          rule,
          entity,
          readings(each[of]).map((one, at) => (at === 0 ? { ...one, standing: "adopted" as const } : one)),
        ),
      ),
      about(22),
    ).missed;
  expect(missedBy("high")).toBeGreaterThan(20);
  expect(missedBy("medium")).toBeLessThan(missedBy("high"));
});

test("an outage within the horizon leaves an alert out, and its day out of the base rate", () => {
  const outages = [{ from: firstDay + 5, to: firstDay + 6 }];
  const { precision } = figuresOf(["ooiiiiiiccccccccccccc"], outages);
  expect(precision).toEqual({ mature: 0, churned: 0, rate: null, interval: null });
  expect(matureDays(about(14))).toEqual(Array.from({ length: 7 }, (_, at) => firstDay + at));
  expect(matureDays(about(14, outages))).toEqual([firstDay + 6]);
});

test("of several alerts within a horizon one counts, and moments have no end", () => {
  const moments = replayMoments(1, [firstDay, firstDay + 3, firstDay + 7], readings("ooooooocccccccccccccc"));
  const figures = previewFigures([moments], about(21));
  expect(figures).toMatchObject({ fired: 3, entities: 1, open: 3, precision: { mature: 2, churned: 2 } });
  // The one of the first day is open, a horizon and more before the churn.
  const late = previewFigures([replayMoments(1, [firstDay], readings("oooooooooooocccccc"))], about(18));
  expect([late.churnedEntities, late.missed]).toEqual([1, 0]);
});
