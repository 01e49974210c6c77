/** The Dockerfile, as far as it can be tried without a container engine: test/long/image.long.test.ts also
 * runs npm. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtPages } from "../../cli/pages.ts";
import { readSourceFiles, root } from "../tidy/source-files.ts";
import { copyOf, type Stage } from "./files.ts";
import { Container, finishIn, letThrough, processOf, stages } from "./image.ts";
import { freePort, printed, untilHealthy } from "./running.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-image-"));
const program = join(folder, "program");
const copiesOf = ({ instructions }: Stage) =>
  instructions.filter(({ word }) => word === "COPY").map((instruction) => copyOf(instruction));

/** The packages that no file of the service imports. Its Bun runs it. */
function packagesOfPages(): readonly string[] {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const service = readSourceFiles().filter(({ path }) => /^(cli|contract|server|simulation)\//.test(path));
  return Object.keys(dependencies).filter((name) => {
    const imported = new RegExp(`["']${name}(/[^"']*)?["']`);
    return name !== "bun" && !service.some(({ text }) => imported.test(text));
  });
}

beforeAll(async () => {
  chmodSync(folder, 0o755);
  await builtPages();
  finishIn(program, root);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the Dockerfile", () => {
  test("copies what is there and what .dockerignore lets through", () => {
    const { build, final } = stages();
    const sources = [...copiesOf(build), ...copiesOf(final)].filter(({ from }) => from === undefined);
    const paths = sources.flatMap((copied) => copied.sources);
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(paths.filter((path) => !letThrough().includes(path))).toEqual([]);
    expect(letThrough().filter((path) => !paths.includes(path))).toEqual([]);
  });

  test("takes from the build what the build makes, under its name", () => {
    const { build, final } = stages();
    const taken = copiesOf(final).filter(({ from }) => from !== undefined);
    expect(taken.map(({ from }) => from)).toEqual([build.name, build.name]);
    expect(taken.flatMap(({ sources }) => sources)).toEqual([
      "/rekindle/node_modules",
      "/rekindle/dashboard/dist",
    ]);
    expect(build.instructions.filter(({ word }) => word === "RUN").map(({ rest }) => rest)).toEqual([
      "npm ci --omit=dev",
      "./cli/with-bun cli/build-pages.ts",
      `npm uninstall --omit=dev ${packagesOfPages().join(" ")}`,
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
  test("starts as a user that may write to the volume only, serves pages, is healthy, and ends at SIGTERM", async () => {
    const port = await freePort();
    const container = new Container(program, join(folder, "data"), { PORT: String(port) });
    expect(await container.health()).toBe(1);
    const server = container.start();
    const output = printed(server);
    try {
      await untilHealthy(container, server, output);
      // Where no port is open, as on a node with the role analysis, the socket of analysis is asked.
      const portless = new Container(program, join(folder, "data"), { PORT: "1" });
      await untilHealthy(portless, server, output);
      const page = await fetch(`http://127.0.0.1:${port}/`);
      expect(page.headers.get("content-type")).toContain("text/html");
      expect(await page.text()).toContain("<script");
    } finally {
      server.kill("SIGTERM");
      await server.exited;
    }
    expect(server.exitCode, (await output).join("\n")).toBe(0);
    expect(await container.health()).toBe(1);
    expect(existsSync(join(program, "package-lock.json"))).toBe(false);
  });
});
