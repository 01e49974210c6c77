/** Kills a process with SIGKILL at some of the statements that a run writes with. The scores that the next processes finish are those
 * of a process that was never killed. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomOfThisRun } from "../warehouse/support.ts";

const program = Bun.fileURLToPath(new URL("./run-kill-child.ts", import.meta.url));
const killsOfRun = 5;

/** Runs the child. @returns what it printed, and whether it was killed */
async function run(folder: string, ...asked: readonly string[]) {
  const child = Bun.spawn([process.execPath, program, folder, ...asked], { stderr: "inherit" });
  const lines = (await new Response(child.stdout).text()).split("\n").filter((line) => line !== "");
  await child.exited;
  const isKilled = child.signalCode === "SIGKILL";
  if (!isKilled) expect(child.exitCode).toBe(0);
  return { lines, isKilled };
}

test("a run that is killed anywhere is finished later with the same scores", async () => {
  const random = randomOfThisRun("run kills");
  const [calm, killed] = await Promise.all(
    ["calm", "killed"].map((name) => mkdtemp(join(tmpdir(), `rekindle-run-${name}-`))),
  );
  if (calm === undefined || killed === undefined) throw new Error("there is no folder");
  const kills: string[] = [];
  try {
    for (const events of ["first", "import"]) {
      await run(calm, events);
      const steps = new Set((await run(calm, "score")).lines);
      await run(killed, events);
      const chosen = new Set(Array.from({ length: killsOfRun }, () => random.pick([...steps])));
      for (const step of steps) {
        if (!chosen.has(step)) continue;
        const when = random.pick(["before", "within", "after"]);
        if ((await run(killed, "score", step, when)).isKilled) kills.push(`${when} ${step}`);
      }
      expect((await run(killed, "score")).isKilled).toBe(false);
      const [expected, found] = await Promise.all([calm, killed].map((folder) => run(folder, "result")));
      expect(JSON.parse(found?.lines[0] ?? "")).toEqual(JSON.parse(expected?.lines[0] ?? "null"));
    }
    console.log(`${kills.length} kills: ${kills.join(", ")}`);
    expect(kills.length).toBeGreaterThan(0);
  } finally {
    await Promise.all([calm, killed].map((folder) => rm(folder, { recursive: true })));
  }
}, 600_000);
