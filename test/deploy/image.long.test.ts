/** Both stages of deploy/Dockerfile, with npm, in folders. The result starts as a container would, from an
 * empty volume. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestCluster } from "../cluster/support.ts";
import { megabytesOf } from "../disk.ts";
import { readSourceFiles, root } from "../tidy/source-files.ts";
import { copyOf, type Stage } from "./files.ts";
import {
  buildUntilArguments,
  buildWithArguments,
  Container,
  finishIn,
  letThrough,
  processOf,
  stages,
} from "./image.ts";
import { freePort, printed, untilHealthy } from "./running.ts";

export const runsOn = { disk: true };

const copiesOf = ({ instructions }: Stage) =>
  instructions.filter(({ word }) => word === "COPY").map((instruction) => copyOf(instruction));

/** Packages that an image and the npm package would bring for nothing: no file of the service imports them.
 * The packages of the pages are in dashboard/package.json. Bun runs the service. */
function unusedPackages(): readonly string[] {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const service = readSourceFiles().filter(({ path }) => /^(cli|contract|server|simulation)\//.test(path));
  return Object.keys(dependencies).filter((name) => {
    const imported = new RegExp(`["']${name}(/[^"']*)?["']`);
    return name !== "bun" && !service.some(({ text }) => imported.test(text));
  });
}

describe("the Dockerfile", () => {
  test("brings the service's packages alone", () => expect(unusedPackages()).toEqual([]));

  test("copies what is there and what .dockerignore lets through", () => {
    const paths = copiesOf(stages().build).flatMap(({ sources }) => sources);
    expect(paths.length).toBeGreaterThan(9);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(paths.toSorted()).toEqual(letThrough().toSorted());
  });

  test("takes all of the second stage from the first, whose files others may read", () => {
    const { build, final } = stages();
    expect(copiesOf(final).filter(({ from }) => from !== build.name)).toEqual([]);
    expect(copiesOf(final).length).toBeGreaterThan(6);
    expect(build.instructions.filter(({ word }) => word === "RUN").map(({ rest }) => rest)).toEqual([
      "npm ci --omit=dev",
      "chmod -R go+rX package.json LICENSE cli contract dashboard server simulation",
      "./cli/with-bun cli/build-pages.ts",
      "npm pkg delete workspaces && npm prune --omit=dev",
      'if [ "$CHDB" = no ]; then npm uninstall --omit=dev chdb; fi',
    ]);
  });

  test("runs as a user by number that is not root and owns the volume", () => {
    const { user, volume, stopSignal, environment } = processOf(stages());
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(environment.DATA_DIR).toBe(volume);
    const [id, group] = user.split(":");
    const made = stages().final.instructions.find(({ word }) => word === "RUN")?.rest;
    expect(made).toContain(`install -d -o ${id} -g ${group} -m 0700 ${volume}`);
    expect(stopSignal).toBe("SIGTERM");
  });
});

describe("what it makes", () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-image-"));
  /** The build stage of both images. The second goes on from the layers of the first, as Docker does: only
   * its last instruction differs. */
  const build = join(folder, "build");
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeAll(async () => {
    // As in a container.
    process.umask(0o022);
    chmodSync(folder, 0o755);
    await buildUntilArguments(build);
  });

  /** Runs the rest of the Dockerfile. @returns the program's folder */
  async function imageOf(name: string, args: Readonly<Record<string, string>>): Promise<string> {
    const program = join(folder, name);
    await buildWithArguments(build, args);
    finishIn(program, build);
    return program;
  }

  /** Starts a container as a user that may write to the volume only, asks it for its health, sends a request,
   * exports its user, and ends it. */
  async function takesAndReturns(program: string, environment: Readonly<Record<string, string>>) {
    const port = await freePort();
    const started = (portOf: number) =>
      new Container(program, `${program}-data`, {
        PORT: String(portOf),
        LOG_LEVEL: "warn",
        ...environment,
      });
    const container = started(port);
    expect(await container.health()).toBe(1);
    const server = container.start();
    const output = printed(server);
    try {
      await untilHealthy(container, server, output);
      // Where no port is open, as on a node with the role analysis, the socket of analysis is asked.
      await untilHealthy(started(1), server, output);
      const page = await fetch(`http://127.0.0.1:${port}/`);
      expect(page.headers.get("content-type")).toContain("text/html");
      expect(await page.text()).toContain("<script");
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
    expect(await container.health()).toBe(1);
  }

  test("is a program of 710 MB that starts, takes a request and exports its data", async () => {
    const program = await imageOf("program", {});
    expect(existsSync(join(program, "node_modules/@biomejs"))).toBe(false);
    expect(existsSync(join(program, "package-lock.json"))).toBe(false);
    expect(megabytesOf(program)).toBeLessThanOrEqual(710);
    await takesAndReturns(program, {});
  });

  test("is a node of a cluster of 180 MB without chDB, which does the same", async () => {
    const program = await imageOf("node", { CHDB: "no" });
    expect(megabytesOf(program)).toBeLessThanOrEqual(180);
    const cluster = await TestCluster.start();
    await takesAndReturns(program, cluster.env);
  });
});
