/**
 * What `rekindle demo` shows at once on each start day: the churn risk of accounts, MRR at risk, who is to be
 * called, segments, alerts, owners, tasks, notes, contacts and a view. A day on which something is missing
 * says what.
 *
 *   cli/with-bun bench/demonstration.ts [every, 1 by default: each nth of the 90 start days and seeds; 10 tries all seeds]
 */
import { demonstrated, missingOf, shownBy, starts } from "../test/long/demonstrated.ts";

const every = Number(process.argv[2] ?? 1);
let incomplete = 0;
const tried = starts.filter((_, index) => index % every === 0);
for (const [day, seed] of tried) {
  const startedMs = performance.now();
  const { server, ask } = await demonstrated(day, seed);
  const seconds = (performance.now() - startedMs) / 1_000;
  const shown = await shownBy(ask);
  const missing = missingOf(shown);
  if (missing.length > 0) incomplete += 1;
  console.log(day, seed, `${seconds.toFixed(0)} s`, JSON.stringify(shown), missing.join(", "));
  await server.stop();
}
console.log(`${tried.length} demonstrations, ${incomplete} of them incomplete`);
