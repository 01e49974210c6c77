/**
 * The disk space of a million events, rollups included and after the engine's own merges, and the loader's
 * cost: `cli/with-bun bench/disk.ts`
 */
import { eventWithId, eventWithoutId, users } from "./load/events.ts";
import { Installation } from "./load/installation.ts";
import { runLoad } from "./load/load.ts";

/** Bytes in the warehouse for a million events, after its own merges. */
async function measure(name: string, request: (n: number) => string): Promise<void> {
  const installation = await Installation.start();
  await installation.identify(users);
  await installation.drained();
  const before = await installation.settledBytes();
  const cpuBefore = installation.cpuSeconds().analysis;
  let sent = 0;
  while (sent < 1_000_000) {
    const load = { port: installation.port, path: "/track", headers: installation.headers, request };
    const { statuses } = await runLoad({ ...load, seconds: 4 });
    sent += statuses[201] ?? 0;
  }
  await installation.drained();
  const events = await installation.eventsVisible();
  const cpu = (installation.cpuSeconds().analysis - cpuBefore) * 1_000_000;
  const bytes = (await installation.settledBytes()) - before;
  console.log(
    `${name}: ${(bytes / events).toFixed(1)} bytes an event in the warehouse, ${(installation.diskBytes("message-ids") / events).toFixed(1)} of message ids; loader ${(cpu / events).toFixed(1)} µs of CPU a row`,
  );
  await installation.server.stop();
}

await measure("with client ids", eventWithId);
await measure("without client ids", eventWithoutId);
process.exit(0);
