import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Random } from "../../simulation/random.ts";
import { randomOfThisRun } from "./support.ts";

const kills = 10;

/** When a child is killed: some time after its start, or after it has acknowledged so many events. */
interface Kill {
  readonly afterMs: number;
  readonly afterEvents: number;
}

/** Runs the child, to its end or until it is killed. @returns the lines that it printed */
async function run(mode: "load" | "verify", folder: string, random: Random, kill?: Kill): Promise<string[]> {
  const program = Bun.fileURLToPath(new URL("./crash-child.ts", import.meta.url));
  const child = Bun.spawn([process.execPath, program, mode, folder, String(random.between(0, 2 ** 31))], {
    stdout: "pipe",
    stderr: "inherit",
    env: { ...process.env, UV_THREADPOOL_SIZE: "16" },
  });
  let killer: Timer | undefined;
  let output = "";
  const killSoon = () => {
    if (kill === undefined || killer !== undefined) return;
    // The last line may be half of one.
    if (lastNumber(output.split("\n").slice(0, -1), "acknowledged") < kill.afterEvents) return;
    killer = setTimeout(() => child.kill("SIGKILL"), kill.afterMs);
  };
  killSoon();
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    output += decoder.decode(chunk, { stream: true });
    killSoon();
  }
  await child.exited;
  clearTimeout(killer);
  expect(child.signalCode).toBe(kill === undefined ? null : "SIGKILL");
  return output.split("\n");
}

function lastNumber(lines: readonly string[], word: string): number {
  const line = lines.findLast((text) => text.startsWith(`${word} `) && /\d$/.test(text));
  return Number(line?.split(" ")[1] ?? 0);
}

test("after kills at random moments every acknowledged row is there once and rollups equal the events", async () => {
  const random = randomOfThisRun("kills");
  const folder = await mkdtemp(join(tmpdir(), "rekindle-crash-"));
  try {
    let acknowledged = 0;
    let halfWritten = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      // Every other one while it starts, perhaps, or replays: a slow machine gets no further in its time.
      const afterEvents = kill % 2 === 0 ? acknowledged + 300 : 0;
      const afterMs = random.between(100, 3_000);
      const lines = await run("load", folder, random, { afterMs, afterEvents });
      // The last line may have been cut by the kill, the one before it was whole.
      acknowledged = Math.max(acknowledged, lastNumber(lines.slice(0, -1), "acknowledged"));
      if (lines.includes("half-written true")) halfWritten += 1;
    }
    const lines = await run("verify", folder, random);
    if (lines.includes("half-written true")) halfWritten += 1;
    const result = JSON.parse(
      lines.find((line) => line.startsWith("result "))?.slice("result ".length) ?? "null",
    );
    console.log(
      `${result?.acknowledged} events, ${kills} kills, ${halfWritten} left events without their rollups`,
    );
    expect(result.acknowledged).toBeGreaterThanOrEqual(acknowledged);
    expect(acknowledged).toBeGreaterThan(1_000);
    expect(result).toEqual({
      acknowledged: result.acknowledged,
      stored: { events: result.acknowledged, ids: result.acknowledged, isGapless: 1 },
      differences: [],
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
