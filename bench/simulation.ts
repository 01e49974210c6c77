/**
 * The speed and the memory of the simulation: items a second, without sending them.
 *
 *   cli/with-bun bench/simulation.ts [users] [weeks]
 */
import { Zone } from "../server/calendar/zone.ts";
import { Simulation } from "../simulation/simulation.ts";

const users = Number(process.argv[2] ?? 2_000);
const weeks = Number(process.argv[3] ?? 26);
const startedMs = performance.now();
const simulation = new Simulation({ seed: 1, users, weeks, endMs: Date.now(), zone: new Zone("UTC") });
let items = 0;
for (const day of simulation.days()) items += day.items.length;
const seconds = (performance.now() - startedMs) / 1_000;
const megabytes = Math.round(process.memoryUsage().rss / 1_000_000);
console.log(
  `${users} users, ${weeks} weeks: ${items} items in ${seconds.toFixed(2)} s, ${Math.round(items / seconds)} a second, ${megabytes} MB`,
);
