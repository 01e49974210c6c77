/** Both stages of deploy/Dockerfile, with npm, in folders. The result starts as a container would, from an
 * empty volume. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestCluster } from "../cluster/support.ts";
import { buildUntilArguments, buildWithArguments, Container, finishIn } from "../deploy/image.ts";
import { freePort, printed, untilHealthy } from "../deploy/running.ts";
import { megabytesOf } from "../disk.ts";

export const runsOn = { disk: true };

const folder = mkdtempSync(join(tmpdir(), "rekindle-image-"));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The build stage of both images. The second goes on from the layers of the first, as Docker does: only its
 * last instruction differs. */
const build = join(folder, "build");
beforeAll(() => buildUntilArguments(build));

/** Runs the rest of the Dockerfile. @returns the program's folder */
async function imageOf(name: string, args: Readonly<Record<string, string>>): Promise<string> {
  const program = join(folder, name);
  await buildWithArguments(build, args);
  finishIn(program, build);
  return program;
}

/** Starts a container, sends a request and exports its user. */
async function takesAndReturns(program: string, environment: Readonly<Record<string, string>>) {
  const port = await freePort();
  const container = new Container(program, `${program}-data`, {
    PORT: String(port),
    LOG_LEVEL: "warn",
    ...environment,
  });
  const server = container.start();
  const output = printed(server);
  try {
    await untilHealthy(container, server, output);
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
}

test("the Dockerfile makes a program of 690 MB that starts, takes a request and exports its data", async () => {
  const program = await imageOf("program", {});
  expect(existsSync(join(program, "node_modules/@biomejs"))).toBe(false);
  expect(megabytesOf(program)).toBeLessThanOrEqual(690);
  await takesAndReturns(program, {});
});

test("without chDB it makes a node of a cluster of 180 MB, which does the same", async () => {
  const program = await imageOf("node", { CHDB: "no" });
  expect(megabytesOf(program)).toBeLessThanOrEqual(180);
  const cluster = await TestCluster.start();
  await takesAndReturns(program, cluster.env);
});
