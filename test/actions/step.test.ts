/** Each transition of an alert rule for one entity, and what holds for every history. */
import { describe, expect, test } from "bun:test";
import {
  type EntityState,
  type Outcome,
  type Reading,
  type StepRule,
  step,
  unknownEntity,
} from "../../server/actions/rules/step.ts";
import { Random } from "../../simulation/random.ts";

const rule: StepRule = { cooldownDays: 5, exitDays: 2 };

/** One letter a day: `i` inside, `s` inside by settings only, `m` neither inside nor out, `o` out, `c` churned, `g` gone, `x` excluded,
 * `I` and `O` the same taken over without an alert, `f` a day that is not decided. */
function outcomes(days: string, about = rule): string {
  let state: EntityState = unknownEntity;
  const lines: string[] = [];
  for (const [day, letter] of [...days].entries()) {
    if (letter === "f") continue;
    const result = step(about, state, readingOf(letter, day));
    state = result.state;
    lines.push(...result.outcomes.map(told));
  }
  return lines.join(", ");
}

function readingOf(letter: string, day: number): Reading {
  const standings = { c: "churned", g: "gone", x: "excluded", I: "adopted", O: "adopted" } as const;
  return {
    day,
    isInside: "isI".includes(letter),
    isInsideAsBefore: "iI".includes(letter),
    isOut: "oO".includes(letter),
    standing: (standings as Record<string, Reading["standing"]>)[letter] ?? "present",
  };
}

function told(outcome: Outcome): string {
  if (outcome.what === "closed") return `${outcome.day} ${outcome.why} ${outcome.firedOn}`;
  return `${outcome.day} ${outcome.what}`;
}

describe("a rule about one entity", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["fires when it comes in", "ooi", "2 fired"],
    ["fires on the first day that is known", "i", "0 fired"],
    ["fires once while it stays", "oiiiiiiii", "1 fired"],
    ["fires from between the thresholds", "omi", "2 fired"],
    ["resolves on the second day out", "oioo", "1 fired, 3 resolved 1"],
    ["stays open after one day out", "oioioio", "1 fired"],
    ["stays open between the thresholds", "oimmmm", "1 fired"],
    ["counts days out in a row only", "oiomo", "1 fired"],
    ["does not fire again within the cooldown", "oiooi", "1 fired, 3 resolved 1"],
    ["does not fire when the cooldown ends inside", "oiooiiiii", "1 fired, 3 resolved 1"],
    ["fires again after the cooldown and two days out", "oiooooi", "1 fired, 3 resolved 1, 6 fired"],
    ["needs two days out after a cooldown that ended inside", "oiooiiioi", "1 fired, 3 resolved 1"],
    ["fires after them", "oiooiiiooi", "1 fired, 3 resolved 1, 9 fired"],
    ["is no alert when only settings changed", "ooss", "2 inside by settings"],
    ["does not fire after that while it stays", "oosi", "2 inside by settings"],
    ["fires after that once it was out", "oosooi", "2 inside by settings, 5 fired"],
    ["closes when the entity churns", "oic", "1 fired, 2 churned 1"],
    ["says nothing when an entity without alert churns", "oc", ""],
    ["keeps the cooldown over churn", "oicci", "1 fired, 2 churned 1"],
    ["fires for an entity that returns after it", "oiccccci", "1 fired, 2 churned 1, 7 fired"],
    ["closes for an account without members", "oig", "1 fired, 2 gone 1"],
    ["closes for an excluded entity", "oix", "1 fired, 2 excluded 1"],
    ["takes over who is inside", "Iii", ""],
    ["takes over who is outside", "Oi", "1 fired"],
    ["fires after a takeover once it was out", "Iooi", "3 fired"],
    ["keeps an open alert over a takeover", "oiIoo", "1 fired, 4 resolved 1"],
    ["compares with the last decided day", "offfi", "4 fired"],
    ["stands still while nothing is decided", "oiofffo", "1 fired, 6 resolved 1"],
  ];
  test.each(cases)("%s: %s", (_, days, expected) => {
    expect(outcomes(days)).toBe(expected);
  });

  test("of a segment resolves at once, and fires again after the cooldown", () => {
    expect(outcomes("oiooooi", { cooldownDays: 2, exitDays: 1 })).toBe("1 fired, 2 resolved 1, 6 fired");
  });
});

test("any history opens and closes alerts in turn, and fires at most once in a cooldown", () => {
  const random = new Random(18);
  for (let round = 0; round < 2_000; round += 1) {
    const letters = Array.from({ length: 60 }, () => "iiismmooooocgxIOf"[random.between(0, 16)] ?? "o");
    let [state, open, last]: [EntityState, number | null, number] = [unknownEntity, null, -100];
    for (const [day, letter] of letters.entries()) {
      if (letter === "f") continue;
      const result = step(rule, state, readingOf(letter, day));
      state = result.state;
      for (const outcome of result.outcomes) {
        if (outcome.what === "fired") {
          expect(open).toBeNull();
          expect(day - last).toBeGreaterThanOrEqual(rule.cooldownDays);
          [open, last] = [day, day];
        }
        if (outcome.what === "closed") {
          expect(outcome.firedOn).toBe(open ?? -1);
          open = null;
        }
      }
      expect(state.firedOn).toBe(open);
    }
  }
});
