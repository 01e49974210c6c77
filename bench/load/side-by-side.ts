/** The processor time of two services that get their load in the same seconds, so that a disturbance affects
 * both. */
import type { Server } from "../../test/server.ts";
import { median } from "./alternate.ts";

export interface Side {
  readonly name: string;
  readonly server: Server;
  /** Sends for some seconds. */
  send(seconds: number): Promise<unknown>;
}

/** Measures both, and prints per cent of a core and how much more the second takes. */
export async function sideBySide(
  sides: readonly [Side, Side],
  { rounds, seconds, aimPercent }: { rounds: number; seconds: number; aimPercent: number },
): Promise<void> {
  const shares: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const startedMs = performance.now();
    const before = sides.map(({ server }) => server.cpuSeconds());
    await Promise.all(sides.map((side) => side.send(seconds)));
    const tookMs = performance.now() - startedMs;
    for (const [index, { server }] of sides.entries()) {
      shares[index]?.push((100_000 * (server.cpuSeconds() - (before[index] ?? 0))) / tookMs);
    }
  }
  for (const [index, { name }] of sides.entries()) console.log(`${name}: ${inWords(shares[index] ?? [])}`);
  const more = shares[1].map((share, round) => share - (shares[0][round] ?? Number.NaN));
  const verdict = mean(more) <= aimPercent ? "met" : "MISSED";
  console.log(`${sides[1].name} takes more: ${inWords(more)}; aim for the mean ${aimPercent} %: ${verdict}`);
}

function inWords(percent: readonly number[]): string {
  const [low, high] = [Math.min(...percent), Math.max(...percent)].map((each) => each.toFixed(1));
  return `mean ${mean(percent).toFixed(1)} % of a core, median of rounds ${median(percent).toFixed(1)} (${low} to ${high})`;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The days that a server's log says were scored since some point of it, with the longest run. */
export function runsIn(output: string): string {
  const runs = [...output.matchAll(/"day":"([\d-]+)","ms":(\d+),"msg":"scored"/g)].map(([, day, ms]) => ({
    day: day ?? "",
    ms: Number(ms),
  }));
  const days = Map.groupBy(runs, ({ day }) => day);
  const each = [...days].map(([day, of]) => `${of.length} of ${day}`);
  const longest = Math.max(0, ...runs.map(({ ms }) => ms));
  return each.length === 0 ? "no runs" : `runs: ${each.join(", ")}; longest ${longest} ms`;
}
