/** What the machine gave to a run of tests. Without it a slow run cannot be told from slow tests. */
import { existsSync, readFileSync } from "node:fs";

/** Jiffies of /proc/stat since the machine started, of all cores. */
interface Jiffies {
  readonly all: number;
  readonly idle: number;
  readonly disk: number;
  readonly others: number;
}

/** Between two looks at the free memory. */
const lookEveryMs = 5_000;

/** @returns tells in one line how much of the processor was used since, taken by other machines on the same
 * hardware, or waited for the disk, and the least free memory; undefined where the system is not Linux */
export function watchMachine(): () => string | undefined {
  if (!existsSync("/proc/stat")) return () => undefined;
  const before = jiffies();
  const heldBefore = heldBackSeconds();
  let leastFree = freeMegabytes();
  const looking = setInterval(() => {
    leastFree = Math.min(leastFree, freeMegabytes());
  }, lookEveryMs);
  looking.unref();
  return () => {
    clearInterval(looking);
    const now = jiffies();
    const share = (of: (one: Jiffies) => number) =>
      `${Math.round((100 * (of(now) - of(before))) / Math.max(1, now.all - before.all))} %`;
    const used = share(({ all, idle, disk, others }) => all - idle - disk - others);
    return [
      `the machine: ${used} used`,
      `${share(({ others }) => others)} taken by others`,
      `${share(({ disk }) => disk)} waiting for the disk`,
      `held back for ${Math.round(heldBackSeconds() - heldBefore)} s`,
      `at least ${leastFree} of ${megabytes("MemTotal")} MB free`,
    ].join(", ");
  };
}

function jiffies(): Jiffies {
  const [line = ""] = readFileSync("/proc/stat", "utf8").split("\n");
  // user nice system idle iowait irq softirq steal
  const columns = line.split(/\s+/).slice(1, 9).map(Number);
  const [, , , idle = 0, disk = 0, , , others = 0] = columns;
  return { all: columns.reduce((sum, one) => sum + one, 0), idle, disk, others };
}

/** For so long a container's limit kept its processes from a free core. */
function heldBackSeconds(): number {
  const file = "/sys/fs/cgroup/cpu.stat";
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return Number(/^throttled_usec (\d+)$/m.exec(text)?.[1] ?? 0) / 1_000_000;
}

const freeMegabytes = () => megabytes("MemAvailable");

function megabytes(name: string): number {
  const text = readFileSync("/proc/meminfo", "utf8");
  return Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0) / 1_024);
}
