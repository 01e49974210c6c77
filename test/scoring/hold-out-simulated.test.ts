/** What a control group shows, on 4,000 simulated experiments each: how often intervals hold the truth, and
 * how often an effect is seen where there is none. */
import { describe, expect, test } from "bun:test";
import { holdOutResult } from "../../server/scoring/statistics/hold-out.ts";
import { Random } from "../../simulation/random.ts";

const runs = 4_000;
/** Four standard errors of a share of 5 % over so many runs. */
const tolerance = 4 * Math.sqrt((0.05 * 0.95) / runs);
const looks = 26;

interface World {
  readonly planned: number;
  readonly base: number;
  readonly share: number;
  readonly saved: number;
}

const worlds = [150, 400, 1_500].flatMap((planned) =>
  [0.05, 0.2, 0.4, 0.75].flatMap((base) => [0.2, 0.5].map((share) => ({ planned, base, share }))),
);

/** One experiment. Units may be accounts of three users, of which it is the account that is drawn and leaves.
 * @returns the verdicts of weekly looks, and the final reading */
function experiment(random: Random, { planned, base, share, saved }: World) {
  const arms = { treated: { hits: 0, count: 0 }, control: { hits: 0, count: 0 } };
  let wasSeen = false;
  let [entered, nextLook] = [0, planned / looks];
  while (entered < planned) {
    entered += 1;
    const arm = random.chance(share) ? "control" : "treated";
    arms[arm].count += 1;
    if (random.chance(arm === "control" ? base : base * (1 - saved))) arms[arm].hits += 1;
    if (entered >= nextLook && entered < planned) {
      nextLook += planned / looks;
      wasSeen ||= ["keeps", "harms"].includes(holdOutResult(arms, planned).verdict);
    }
  }
  const final = holdOutResult(arms, planned);
  return { final, wasSeen, isSeen: wasSeen || ["keeps", "harms"].includes(final.verdict) };
}

describe.each(worlds)("planned for $planned entries, of which $base leave, at a share of $share", (world) => {
  test("the final interval holds the truth in 93 to 98 % of experiments", () => {
    const random = new Random(world.planned + Math.round(100 * (world.base + world.share)));
    const saved = 0.3;
    let held = 0;
    for (let run = 0; run < runs; run++) {
      const { low, high } = experiment(random, { ...world, saved }).final.kept;
      const truth = world.base * saved;
      if (low <= truth && truth <= high) held += 1;
    }
    expect(held / runs).toBeWithin(0.93 - tolerance, 0.98 + tolerance);
  });

  test("without an effect, 26 looks err in at most 1 %, and with the final reading in at most 6 %", () => {
    const random = new Random(7 + world.planned + Math.round(100 * (world.base + world.share)));
    let [seenEarly, seen] = [0, 0];
    for (let run = 0; run < runs; run++) {
      const { wasSeen, isSeen } = experiment(random, { ...world, saved: 0 });
      seenEarly += Number(wasSeen);
      seen += Number(isSeen);
    }
    expect(seenEarly / runs).toBeLessThanOrEqual(0.01 + 4 * Math.sqrt((0.01 * 0.99) / runs));
    expect(seen / runs).toBeLessThanOrEqual(0.06 + tolerance);
  });
});
