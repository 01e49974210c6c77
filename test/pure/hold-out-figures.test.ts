/** What a control group shows, in figures and in words. */
import { describe, expect, test } from "bun:test";
import { holdOutFigures } from "../../server/features/alerts/control-groups/figures.ts";
import type { ArmCount } from "../../server/features/alerts/control-groups/results-store.ts";

const month = 30.44 * 86_400_000;
const plan = { primary: "churned", base: 0.4, planned: 200 } as const;
const arm = (name: ArmCount["arm"], one: Partial<ArmCount>): ArmCount => ({
  rule: 1,
  experiment: 1,
  arm: name,
  entries: 0,
  mature: 0,
  left: 0,
  firstMature: 0,
  firstLeft: 0,
  firstOpen: 0,
  contaminated: 0,
  ...one,
});
const figures = (treated: Partial<ArmCount>, control: Partial<ArmCount>, share = 0.5) =>
  holdOutFigures([arm("control", control), arm("treated", treated)], plan, { share, runningMs: 2 * month });

describe("a control group", () => {
  test("whose planned entries are all known is read once, on exactly these", () => {
    const first = { entries: 150, mature: 140, firstMature: 100 };
    const { verdict, isFinal, sentence, treated } = figures(
      { ...first, left: 90, firstLeft: 18 },
      { ...first, left: 20, firstLeft: 30 },
    );
    expect([verdict, isFinal]).toEqual(["keeps", true]);
    expect(sentence).toBe(
      "30 of 100 left without the rule, 18 of 100 with it: the rule keeps 0 to 23 more of 100.",
    );
    expect(treated).toEqual({ entries: 150, mature: 140, left: 90 });
  });

  test("waits for the last of the planned entries, whatever is known of later ones", () => {
    const { isFinal, verdict, sentence } = figures(
      { entries: 150, mature: 130, left: 23, firstMature: 99, firstLeft: 18, firstOpen: 1 },
      { entries: 150, mature: 130, left: 39, firstMature: 100, firstLeft: 30 },
    );
    expect([isFinal, verdict]).toEqual([false, "open"]);
    expect(sentence).toMatch(
      /no difference can be seen yet; the final result comes when all outcomes are known\.$/,
    );
  });

  test("that shows nothing yet says when, at the pace so far", () => {
    const few = { entries: 25, mature: 20, left: 6 };
    const { sentence, monthsLeft } = figures(few, few);
    // 50 entries in two months: 150 more take six.
    expect(monthsLeft).toBeCloseTo(6, 9);
    expect(sentence).toBe(
      "6 of 20 left without the rule, 6 of 20 with it: no difference can be seen yet; at this pace in about 6 months.",
    );
    expect(figures({ entries: 3 }, { entries: 2 }).sentence).toMatch(
      /^No outcome is known yet; at this pace/,
    );
    expect(figures({}, {}).sentence).toBe("No outcome is known yet.");
    expect(figures({ entries: 7 }, { entries: 8 }).sentence).toMatch(/at this pace not within two years\.$/);
  });

  test("that does harm says so, and to stop", () => {
    const { verdict, sentence } = figures(
      { entries: 200, mature: 200, left: 120, firstMature: 100, firstLeft: 60 },
      { entries: 200, mature: 200, left: 40, firstMature: 100, firstLeft: 20 },
    );
    expect(verdict).toBe("harms");
    expect(sentence).toMatch(/the rule loses \d+ to \d+ more of 100\. Stop it\.$/);
  });

  test("whose groups are not as large as drawn is not trusted", () => {
    const { isRatioOff, sentence } = figures({ entries: 900, mature: 0 }, { entries: 700, mature: 0 });
    expect(isRatioOff).toBe(true);
    expect(sentence).toBe(
      "The groups are of other sizes than drawn: stop and look before you trust a result.",
    );
    expect(figures({ entries: 800 }, { entries: 200 }, 0.2).isRatioOff).toBe(false);
  });
});
