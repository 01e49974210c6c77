/**
 * How long a fixed segment holds up other requests while it is stored in SQLite, and is deleted: by numbers,
 * as a retention cell is saved, and by ids, as a CSV is.
 *
 *   cli/with-bun bench/fixed-segments.ts [users of the organization, 100,000 by default] [repeats, 9]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { segmentLimits } from "../contract/segments/segments.ts";
import type { SegmentContent } from "../server/features/segments/segments.ts";
import { commandLine } from "../server/ledger/audit.ts";
import { createOrganization, type Opened, withOpened, writeUsers } from "./history/opened.ts";

const [users = 100_000, repeats = 9] = process.argv.slice(2).map(Number);
const usersAtOnce = 10_000;
const { cellUsers, fixedIds } = segmentLimits;

/** Every so many users, so that they are spread over all of the organization. */
const spread = (count: number) =>
  Array.from(
    { length: Math.min(count, users) },
    (_, at) => 1 + Math.floor((at * users) / Math.min(count, users)),
  );

interface Took {
  /** The longest time in which no other work of the process ran. */
  readonly longestMs: number;
  /** Processor time of the process in the stretch that took most of it. Other work on the machine affects it
   * least. */
  readonly longestCpuMs: number;
  readonly wholeMs: number;
}

async function watched(work: () => Promise<unknown>): Promise<Took> {
  let [longestMs, longestCpuMs, isOver] = [0, 0, false];
  const begunMs = performance.now();
  let [lastMs, lastCpuMs] = [begunMs, cpuMs()];
  const end = work().finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const [nowMs, nowCpuMs] = [performance.now(), cpuMs()];
    longestMs = Math.max(longestMs, nowMs - lastMs);
    longestCpuMs = Math.max(longestCpuMs, nowCpuMs - lastCpuMs);
    [lastMs, lastCpuMs] = [nowMs, nowCpuMs];
    await new Promise((resolve) => setImmediate(resolve));
  }
  await end;
  const endMs = performance.now();
  longestMs = Math.max(longestMs, endMs - lastMs);
  return { longestMs, longestCpuMs: Math.max(longestCpuMs, cpuMs() - lastCpuMs), wholeMs: endMs - begunMs };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function print(name: string, took: readonly Took[]): void {
  const text = (of: keyof Took) => {
    const sorted = took.map((one) => one[of]).sort((a, b) => a - b);
    return `median ${(sorted[repeats >> 1] ?? 0).toFixed(1)} ms, most ${(sorted.at(-1) ?? 0).toFixed(1)} ms`;
  };
  console.log(
    `${name.padEnd(28)} holds up: ${text("longestMs")}   CPU: ${text("longestCpuMs")}   whole: ${text("wholeMs")}`,
  );
}

async function measure({ ledger }: Opened, organization: number, name: string, content: SegmentContent) {
  const [added, removed]: [Took[], Took[]] = [[], []];
  for (let n = 0; n < repeats; n += 1) {
    let id = 0;
    const wanted = { kind: "users", name: `${name} ${n}`, content } as const;
    added.push(
      await watched(async () => {
        ({ id } = (await ledger.segments.add(organization, wanted, commandLine, Date.now())).segment);
      }),
    );
    removed.push(await watched(() => ledger.segments.remove(organization, id, commandLine, Date.now())));
  }
  print(`${name}: save`, added);
  print(`${name}: delete`, removed);
}

const dataDir = mkdtempSync(join(tmpdir(), "rekindle-bench-fixed-"));
try {
  await withOpened(dataDir, async (opened) => {
    const { organization } = await createOrganization(opened, "Fixed");
    for (let from = 1; from <= users; from += usersAtOnce) {
      const numbers = Array.from({ length: Math.min(usersAtOnce, users - from + 1) }, (_, at) => from + at);
      await writeUsers(opened, organization.id, numbers);
    }
    await measure(opened, organization.id, `${cellUsers} numbers`, { numbers: spread(cellUsers) });
    const ids = spread(fixedIds).map((number) => `user-${number}`);
    await measure(opened, organization.id, `${fixedIds} ids`, { ids });
  });
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit(0);
