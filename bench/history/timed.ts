/** The time of a query, measured several times. */

export interface Took {
  readonly bestMs: number;
  readonly medianMs: number;
  /** Of all threads; other work on the machine affects it least. */
  readonly cpuMs: number;
}

/** Runs this many times, one after another. */
export async function timed(ask: () => Promise<unknown>, times: number): Promise<Took> {
  const ms: number[] = [];
  const cpuMs: number[] = [];
  for (let n = 0; n < times; n += 1) {
    const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
    await ask();
    ms.push(performance.now() - startedMs);
    const { user, system } = process.cpuUsage(cpu);
    cpuMs.push((user + system) / 1_000);
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[times >> 1] ?? 0;
  return { medianMs: median(ms), bestMs: ms[0] ?? 0, cpuMs: median(cpuMs) };
}

/** Prints a line of figures. */
export function printTook(name: string, { bestMs, medianMs, cpuMs }: Took, more = ""): void {
  const figures = `best ${bestMs.toFixed(1)} ms, median ${medianMs.toFixed(1)} ms, CPU ${cpuMs.toFixed(1)} ms`;
  console.log(`${name.padEnd(42)} ${figures} ${more}`);
}
