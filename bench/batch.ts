/**
 * The gain of batches: durable events a second in batches of 100 and in single requests, from one process, in
 * alternating rounds. Aim: 200,000 a second.
 *
 *   cli/with-bun bench/batch.ts [rounds] [seconds a round]
 */
import { alternate, formatTable } from "./load/alternate.ts";
import { eventWithId as event, users } from "./load/events.ts";
import { Installation } from "./load/installation.ts";
import { runLoad } from "./load/load.ts";

const rounds = Number(process.argv[2] ?? 5);
const seconds = Number(process.argv[3] ?? 3);
const itemsABatch = 100;

/** The n-th batch, of fresh events. */
function batch(n: number): string {
  const items = Array.from(
    { length: itemsABatch },
    (_, index) => `{"type":"track",${event(n * itemsABatch + index).slice(1)}`,
  );
  return `{"batch":[${items.join(",")}]}`;
}

const installation = await Installation.start({ role: "intake" });
await installation.identify(users);
const { port, headers } = installation;
const measure = (path: string, request: (n: number) => string, connections: number) => () =>
  runLoad({ port, path, headers, request, connections, warmUpSeconds: 0.3, seconds });
const [single, batches] = await alternate(
  [
    { name: "POST /track", measure: measure("/track", event, 64) },
    { name: "POST /batch", measure: measure("/batch", batch, 8) },
  ],
  rounds,
);
await installation.server.stop();
if (single === undefined || batches === undefined) throw new Error("nothing was measured");
console.log(formatTable([single, batches]));
const events = Math.round(batches.requestsPerSecond * itemsABatch).toLocaleString("en");
console.log(
  `${events} events a second in batches of ${itemsABatch}: ${(batches.ratio * itemsABatch).toFixed(1)} times`,
);
process.exit(0);
