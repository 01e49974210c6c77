/** Both stages of deploy/Dockerfile, with npm, in folders: what comes out starts as a container would, from an empty volume. */
import { afterAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildIn, Container, finishIn } from "../deploy/image.ts";
import { freePort, printed, untilHealthy } from "../deploy/running.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-image-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the Dockerfile's npm commands make a program that starts, takes a request and gets its data out again", async () => {
  chmodSync(folder, 0o755);
  const [build, program] = [join(folder, "build"), join(folder, "program")];
  await buildIn(build);
  finishIn(program, build);
  expect(existsSync(join(program, "node_modules/@biomejs"))).toBe(false);
  const port = await freePort();
  const container = new Container(program, join(folder, "data"), { PORT: String(port), LOG_LEVEL: "warn" });
  const server = container.start();
  const output = printed(server);
  try {
    await untilHealthy(container, server);
    expect((await fetch(`http://127.0.0.1:${port}/`)).headers.get("content-type")).toContain("text/html");
    const made = container.start("token", "create", "--organization", "default");
    const [token = ""] = await printed(made);
    expect(await made.exited).toBe(0);
    const answer = await fetch(`http://127.0.0.1:${port}/identify`, {
      method: "POST",
      headers: { Authorization: `Basic ${token.trim()}`, "Content-Type": "application/json" },
      body: JSON.stringify({ userId: "u1", email: "ada@example.com" }),
    });
    expect(await answer.json()).toEqual({ success: true });
    const [users = ""] = await printed(container.start("export", "users", "--organization", "default"));
    expect(users).toContain("ada@example.com");
  } finally {
    server.kill("SIGTERM");
    await server.exited;
  }
  expect(server.exitCode, (await output).join("\n")).toBe(0);
});
