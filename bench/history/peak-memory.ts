/** The most resident memory that this process has had. */
import { readFileSync, writeFileSync } from "node:fs";

/** Starts again with the memory of now. */
export function resetPeakMemory(): void {
  writeFileSync("/proc/self/clear_refs", "5");
}

/** The peak since the last reset, in bytes. */
export function peakMemoryBytes(): number {
  return (
    1024 * Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? Number.NaN)
  );
}
