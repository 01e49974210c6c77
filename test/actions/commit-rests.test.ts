/** Rests between commits: a hundred times as long as the commit, half a second at most, and none once the service is stopped. */
import { expect, test } from "bun:test";
import { CommitRests } from "../../server/actions/alerts/commit-rests.ts";

test("a rest follows the length of the commit", async () => {
  const rests = new CommitRests();
  const startedMs = performance.now();
  await rests.after(2);
  // Timers may be a millisecond early.
  expect(performance.now() - startedMs).toBeGreaterThan(198);
});

test("the longest rest is half a second", async () => {
  const startedMs = performance.now();
  await new CommitRests().after(1e9);
  expect(performance.now() - startedMs).toBeGreaterThan(498);
});

test("a stop ends the rest in hand, and all that follow", async () => {
  const rests = new CommitRests();
  const startedMs = performance.now();
  const inHand = rests.after(1e9);
  rests.stop();
  await inHand;
  // With rests these would be 100 s.
  for (let n = 0; n < 200; n += 1) await rests.after(1e9);
  expect(performance.now() - startedMs).toBeLessThan(50_000);
});
