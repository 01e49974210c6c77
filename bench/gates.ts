/**
 * How often the gates of the back-test let models ship at 30 departures.
 *
 *   cli/with-bun bench/gates.ts [back-tests to simulate, 2,000]
 */
import { shareThatShips } from "../test/scoring/gate-power.ts";

const runs = Number(process.argv[2] ?? 2_000);
for (const baseRate of [0.03, 0.1, 0.3]) {
  const shares = [1, 1.6, 1 / 1.6].map((oddsFactor) => {
    const share = shareThatShips({ baseRate, departures: 30, oddsFactor, runs });
    return `odds × ${oddsFactor.toFixed(2)}: ${(100 * share).toFixed(0)} %`;
  });
  console.log(`base rate ${baseRate}: ${shares.join(", ")}`);
}
