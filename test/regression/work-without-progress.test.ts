/** `rekindle score` failed beside a server when training printed nothing for ten seconds. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerLines, readLines } from "../../server/between/remote/progress-lines.ts";
import { fetchSocket, serveSocket } from "../../server/process/control.ts";

test("long work may be silent for longer than ten seconds after its first line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-socket-"));
  const socket = join(folder, "analysis.sock");
  const server = serveSocket(socket, (request) =>
    answerLines(async (report: (progress: { step: string }) => void) => {
      report({ step: "training" });
      // Longer than Bun's own limit for a silent connection, 10 s.
      await Bun.sleep(15_000);
      return "done";
    }, request.signal),
  );
  try {
    const steps: string[] = [];
    const response = await fetchSocket(socket, "/score", { method: "POST" });
    const summary = await readLines<{ step: string }, string>(
      response,
      ({ step }) => steps.push(step),
      "worked",
    );
    expect([steps, summary]).toEqual([["training"], "done"]);
  } finally {
    await server.stop(true);
    rmSync(folder, { recursive: true });
  }
});
