/** A node of a cluster announces its stop beforehand, so that a load balancer sends no more requests to
 * it. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "../server.ts";
import { until } from "../until.ts";

test("a node that got SIGTERM is not ready, still accepts requests, and ends", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-stopping-"));
  try {
    const server = await Server.start({ dataDir, waitsForNotice: true });
    await server.ready();
    const stopped = server.kill("SIGTERM");
    const answer = await until(
      "it is not ready",
      () => fetch(`${server.url}/readyz`),
      ({ ok }) => !ok,
      { everyMs: 1 },
    );
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ writes: "stopping" });
    const written = await server.post("/identify", server.firstToken, {
      userId: "u1",
      email: "a@example.com",
    });
    expect(written.status).toBe(201);
    writeFileSync(join(dataDir, "noticed"), "");
    expect(await stopped).toBe(0);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
