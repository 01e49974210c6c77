/** Figures of a preview from the days of entities: one letter a day, as in the test of the step. */
import { expect, test } from "bun:test";
import { matureDays, previewFigures } from "../../server/actions/rules/preview-figures.ts";
import { replay, replayMoments } from "../../server/actions/rules/replay.ts";
import type { Reading } from "../../server/actions/rules/step.ts";

/** A Monday. */
const firstDay = 20_001 + ((4 - (20_001 % 7) + 7) % 7);
const horizonDays = 7;
const rule = { cooldownDays: 7, exitDays: 2 };

/** `i` inside, `o` out, `c` churned. */
function readings(letters: string): Reading[] {
  return [...letters].map((letter, at) => ({
    ...{
      day: firstDay + at,
      isInside: letter === "i",
      isInsideAsBefore: letter === "i",
      isOut: letter === "o",
    },
    standing: letter === "c" ? ("churned" as const) : ("present" as const),
  }));
}

const about = (count: number, outages: readonly { from: number; to: number }[] = []) => ({
  ...{ days: Array.from({ length: count }, (_, at) => firstDay + at), horizonDays, outages },
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
});
