/**
 * Processor time of a service with little to do: both processes, when idle and at 10 and 100 events a second,
 * beside another checkout in alternating rounds. And how long after its 201 an event is in the warehouse.
 *
 *   cli/with-bun bench/quiet.ts BASELINE [seconds] [rounds]
 */
import { join } from "node:path";
import { median } from "./load/alternate.ts";
import { Installation } from "./load/installation.ts";
import { runLoad } from "./load/load.ts";
import { VisibilityWatch } from "./load/visibility.ts";

const [baseline, seconds = "20", rounds = "5"] = process.argv.slice(2);
if (baseline === undefined) throw new Error("Which checkout is the baseline?");

const rates = [0, 10, 100] as const;
const users = 1_000;

function request(n: number): string {
  return `{"userId":"user-${n % users}","event":"event_${n % 60}","properties":{"page":"home","n":${n}}}`;
}

async function start(checkout: string): Promise<Installation> {
  const entry = join(checkout, "cli", "main.ts");
  const installation = await Installation.start({ entry, command: entry });
  await installation.identify(users);
  await installation.drained();
  return installation;
}

/** Sends events at a fixed rate for some seconds; none at 0. */
async function send(installation: Installation, rate: number, acknowledged?: () => void): Promise<void> {
  if (rate === 0) return Bun.sleep(Number(seconds) * 1_000);
  const { port, headers } = installation;
  await runLoad({
    port,
    headers,
    path: "/track",
    request,
    connections: 4,
    requestsPerSecond: rate,
    seconds: Number(seconds),
    ...(acknowledged !== undefined && { answered: acknowledged }),
  });
}

/** Both processes' share of a core in per cent. */
async function processorShare(installation: Installation, rate: number): Promise<number> {
  const startedMs = performance.now();
  const before = installation.cpuSeconds();
  await send(installation, rate);
  const after = installation.cpuSeconds();
  const used = after.intake + after.analysis - before.intake - before.analysis;
  return (used * 100_000) / (performance.now() - startedMs);
}

/** Measured apart, because looking takes processor time. */
async function delays(installation: Installation, rate: number): Promise<string> {
  const watch = new VisibilityWatch(() => installation.rowsLoaded());
  await watch.start();
  await send(installation, rate, () => watch.acknowledged());
  const { p50Ms, p99Ms, maxMs } = await watch.stop();
  return `visible after ${p50Ms.toFixed(0)} ms (p99 ${p99Ms.toFixed(0)}, longest ${maxMs.toFixed(0)})`;
}

const variants = [
  { name: "baseline", installation: await start(baseline) },
  { name: "this checkout", installation: await start(join(import.meta.dir, "..")) },
];
// Merges of the users that were just identified are no part of the figures.
await Bun.sleep(15_000);
for (const rate of rates) {
  const shares = variants.map((): number[] => []);
  for (let round = 0; round < Number(rounds); round += 1) {
    for (const [index, { installation }] of variants.entries()) {
      shares[index]?.push(await processorShare(installation, rate));
    }
  }
  const ratios = (shares[1] ?? []).map((share, round) => share / (shares[0]?.[round] ?? Number.NaN));
  console.log(`${rate} events a second: ratio ${median(ratios).toFixed(2)}`);
  for (const [index, { name, installation }] of variants.entries()) {
    const visible = rate === 0 ? "" : `, ${await delays(installation, rate)}`;
    console.log(`  ${name}: ${median(shares[index] ?? []).toFixed(1)} % of a core${visible}`);
  }
}
for (const { installation } of variants) await installation.server.stop();
process.exit(0);
