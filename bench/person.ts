/**
 * The document of everything about a person: one user with many events, exported by the command line of a
 * running service. Its seconds and bytes, and the most memory of the service's processes before and while it
 * is written, beside the same for a user with a hundredth of the events.
 *
 *   cli/with-bun bench/person.ts [events, 1,000,000]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { ImportBench } from "../test/import/support.ts";

const events = Number(process.argv[2] ?? 1_000_000);
const organization = "bench";
const users = { "few-events": events / 100, "many-events": events };
const millisecondsBetween = 10_000;

/** Lines of a file of events, the newest at the end of the year before. */
function eventLines(userId: string, count: number): string {
  const endMs = Date.UTC(new Date().getUTCFullYear(), 0, 1);
  const lines = Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      userId,
      event: `event_${n % 50}`,
      timestamp: new Date(endMs - n * millisecondsBetween).toISOString(),
      properties: { page: `page-${n % 1_000}`, seconds: n % 600, source: "newsletter" },
    }),
  );
  return `${lines.join("\n")}\n`;
}

const peakMegabytes = (pid: number | undefined) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_000;

/** Starts again with the memory of now. */
const resetPeak = (pid: number | undefined) => writeFileSync(`/proc/${pid}/clear_refs`, "5");

const bench = new ImportBench();
try {
  await bench.startServer();
  const { server } = bench;
  await server.ready();
  const token = await server.organization(organization);
  for (const [userId, count] of Object.entries(users)) {
    await server.post("/identify", token, { userId, email: `${userId}@example.com` });
    writeFileSync(bench.path(`${userId}.jsonl`), eventLines(userId, count));
    const imported = await bench.import(bench.path(`${userId}.jsonl`), organization, "--type", "events");
    if (imported.exitCode !== 0) throw new Error(imported.stderr);
  }
  await server.exported("users", organization);
  const pids = { intake: server.pid, analysis: server.analysisPid() };
  for (const [userId, count] of Object.entries(users)) {
    for (const pid of Object.values(pids)) resetPeak(pid);
    const before = Object.values(pids).map(peakMegabytes);
    const startedMs = performance.now();
    const document = await server.command(
      "export",
      "person",
      "--organization",
      organization,
      "--user",
      userId,
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    const { events: written } = JSON.parse(document) as { events: unknown[] };
    if (written.length !== count) throw new Error(`${written.length} of ${count} events are in the document`);
    const megabytes = (document.length / 1e6).toFixed(1);
    const memory = Object.entries(pids)
      .map(
        ([name, pid], at) =>
          `${name} ${before[at]?.toFixed(0)} MB before, ${peakMegabytes(pid).toFixed(0)} MB at most`,
      )
      .join("; ");
    console.log(`${count.toLocaleString("en")} events: ${seconds.toFixed(1)} s, ${megabytes} MB; ${memory}`);
  }
} finally {
  await bench.end();
}
process.exit();
