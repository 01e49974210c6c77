/** `rekindle score` failed beside a server when training printed nothing for ten seconds. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answerCall, operationsOf, remote } from "../../server/process/call.ts";
import { serveSocket, socketPeer } from "../../server/process/control.ts";

interface Scoring {
  score(report: (progress: { readonly step: string }) => void): Promise<string>;
}

test("long work may be silent for longer than ten seconds after its first line", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-socket-"));
  const socket = join(folder, "analysis.sock");
  const scoring: Scoring = {
    async score(report) {
      report({ step: "training" });
      // Longer than Bun's own limit for a silent connection, 10 s.
      await Bun.sleep(15_000);
      return "done";
    },
  };
  const server = serveSocket(socket, (request) => answerCall(operationsOf({ scoring }), request));
  try {
    const steps: string[] = [];
    const { scoring: there } = remote<{ readonly scoring: Scoring }>(socketPeer(socket));
    const summary = await there.score(({ step }) => steps.push(step));
    expect([steps, summary]).toEqual([["training"], "done"]);
  } finally {
    await server.stop(true);
    rmSync(folder, { recursive: true });
  }
});
