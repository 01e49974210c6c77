/** Each transition of an alert rule for one entity, and what holds for every history. */
import { describe, expect, test } from "bun:test";
import {
  type EntityState,
  type Outcome,
  type Reading,
  type StepRule,
  step,
  unknownEntity,
} from "../../server/features/alerts/rules/step.ts";
import { Random } from "../../simulation/random.ts";

const rule: StepRule = { cooldownDays: 5, exitDays: 2 };

/** One letter a day: `i` inside, `s` inside by settings only, `m` neither inside nor out, `o` out, `c`
 * churned, `g` gone, `x` excluded, `I` and `O` the same taken over without an alert, `f` a day that is not
 * decided. */
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
    ["stays open on the second day out within the cooldown", "oiooo", "1 fired"],
    ["resolves when the cooldown is over after two days out", "oiooooo", "1 fired, 6 resolved 1"],
    ["resolves on the second day out after the cooldown", "oiiiiiioo", "1 fired, 8 resolved 1"],
    [
      "resolves on the first decided day after a cooldown that ended while nothing was decided",
      "oiooffffo",
      "1 fired, 8 resolved 1",
    ],
    ["stays open after one day out", "oioioioio", "1 fired"],
    ["stays open between the thresholds", "oimmmmmm", "1 fired"],
    ["stays open between the thresholds when the cooldown ends", "oioooommm", "1 fired"],
    ["counts days out in a row only", "oiiiiiomom", "1 fired"],
    ["does not fire again within the cooldown", "oiooi", "1 fired"],
    ["stays open when the cooldown ends inside", "oiooiiiii", "1 fired"],
    ["does not fire on the first day after the cooldown", "oiooooi", "1 fired"],
    ["fires again once it resolved", "oioooooi", "1 fired, 6 resolved 1, 7 fired"],
    ["needs two days out after a cooldown that ended inside", "oiooiiioi", "1 fired"],
    ["resolves and fires after them", "oiooiiiooi", "1 fired, 8 resolved 1, 9 fired"],
    ["is no alert when only settings changed", "ooss", "2 inside by settings"],
    ["does not fire after that while it stays", "oosi", "2 inside by settings"],
    ["fires after that once it was out", "oosooi", "2 inside by settings, 5 fired"],
    ["closes when the entity churns", "oic", "1 fired, 2 churned 1"],
    ["says nothing when an entity without alert churns", "oc", ""],
    ["keeps the cooldown over churn", "oicci", "1 fired, 2 churned 1"],
    ["fires for an entity that returns after it", "oiccccci", "1 fired, 2 churned 1, 7 fired"],
    ["does not fire for one that returns in the cooldown and stays", "oiciiiiii", "1 fired, 2 churned 1"],
    ["counts days out in the cooldown after churn", "oicioooi", "1 fired, 2 churned 1, 7 fired"],
    ["closes for an account without members", "oig", "1 fired, 2 gone 1"],
    ["closes for an excluded entity", "oix", "1 fired, 2 excluded 1"],
    ["takes over who is inside", "Iii", ""],
    ["takes over who is outside", "Oi", "1 fired"],
    ["fires after a takeover once it was out", "Iooi", "3 fired"],
    ["keeps an open alert over a takeover", "oiIoooo", "1 fired, 6 resolved 1"],
    ["counts days out again after a takeover", "oiooooOoo", "1 fired, 8 resolved 1"],
    ["compares with the last decided day", "offfi", "4 fired"],
    ["stands still while nothing is decided", "oiofffo", "1 fired, 6 resolved 1"],
  ];
  test.each(cases)("%s: %s", (_, days, expected) => {
    expect(outcomes(days)).toBe(expected);
  });

  test("about a segment resolves on the first day out after the cooldown", () => {
    const about = { cooldownDays: 3, exitDays: 1 };
    expect(outcomes("oiooooi", about)).toBe("1 fired, 4 resolved 1, 6 fired");
    expect(outcomes("oiiiioi", about)).toBe("1 fired, 5 resolved 1, 6 fired");
    expect(outcomes("oioiii", about)).toBe("1 fired");
  });

  test("about a source resolves at once, and fires after the cooldown if it is silent then", () => {
    const about = { cooldownDays: 3, exitDays: 1, resolvesInCooldown: true };
    expect(outcomes("oiooooi", about)).toBe("1 fired, 2 resolved 1, 6 fired");
    expect(outcomes("oioiiii", about)).toBe("1 fired, 2 resolved 1, 4 fired");
    expect(outcomes("oiiiioi", about)).toBe("1 fired, 5 resolved 1, 6 fired");
  });

  test("fires again, although the clock was a year ahead when it fired", () => {
    const ahead = { isArmed: true, daysOut: 2, restsUntil: 400, firedOn: null };
    const { state } = step(rule, ahead, readingOf("o", 10));
    expect(state.restsUntil).toBe(15);
    expect(step(rule, state, readingOf("i", 14)).outcomes).toEqual([]);
    expect(step(rule, state, readingOf("i", 15)).outcomes).toEqual([{ what: "fired", day: 15 }]);
  });

  test("that was resolved in its cooldown by an earlier release may fire when that is over", () => {
    const resolved = { isArmed: true, daysOut: 2, restsUntil: 12, firedOn: null };
    expect(step(rule, resolved, readingOf("i", 11)).outcomes).toEqual([]);
    expect(step(rule, resolved, readingOf("i", 12)).outcomes).toEqual([{ what: "fired", day: 12 }]);
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
          if (outcome.why === "resolved") expect(day - last).toBeGreaterThanOrEqual(rule.cooldownDays);
          open = null;
        }
      }
      expect(state.firedOn).toBe(open);
    }
  }
});
