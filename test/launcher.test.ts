/**
 * cli/rekindle and cli/with-bun in a checkout of their own. `npm` is a script here that puts what npm would
 * put: the real one takes half a minute and a network.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./tidy/source-files.ts";

let folder: string;

const lock = (version: string) =>
  JSON.stringify({
    packages: {
      "": {},
      "node_modules/bun": { version },
      "node_modules/@oven/bun-other": { version, optional: true },
      "node_modules/checker": { version: "1.0.0", dev: true },
    },
  });

const npm = `#!/bin/sh
echo "npm says hello"
echo "$*" >> npm-calls
sleep 0.3
rm -rf node_modules
mkdir -p node_modules/bun/bin node_modules/@oven/bun-a/bin node_modules/@oven/bun-b/bin
printf 'echo "postinstall was not run" >&2\\nexit 1\\n' > node_modules/bun/bin/bun.exe
printf '#!/no/such/loader\\n' > node_modules/@oven/bun-a/bin/bun
ln -s "$REAL_BUN" node_modules/@oven/bun-b/bin/bun
chmod +x node_modules/bun/bin/bun.exe node_modules/@oven/bun-a/bin/bun
`;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rekindle-launcher-")));
  for (const name of ["rekindle", "with-bun"]) {
    put(`checkout/cli/${name}`, "");
    copyFileSync(join(root, "cli", name), join(folder, "checkout/cli", name));
    chmodSync(join(folder, "checkout/cli", name), 0o755);
  }
  put(
    "checkout/cli/main.ts",
    "console.log(JSON.stringify([process.argv.slice(2), process.env.UV_THREADPOOL_SIZE, process.pid, process.ppid]));",
  );
  put("checkout/test/run.ts", "console.log('tested');");
  put("checkout/package-lock.json", lock("1.0.0"));
  put("bin/npm", npm);
  chmodSync(join(folder, "bin/npm"), 0o755);
});

afterEach(() => rmSync(folder, { recursive: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

async function run(command: readonly string[], environment: Record<string, string> = {}) {
  const child = Bun.spawn(["sh", "-c", 'exec "$0" "$@"', ...command], {
    cwd: folder,
    env: { REAL_BUN: process.execPath, PATH: `${folder}/bin:${process.env.PATH}`, ...environment },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr, pid: child.pid };
}

const npmCalls = () => {
  const path = join(folder, "checkout/npm-calls");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
};

test("the first start installs, says so on stderr, and runs Bun in place of itself", async () => {
  const { code, stdout, stderr, pid } = await run(["checkout/cli/rekindle", "token", "a b", "--c=*"]);
  expect(JSON.parse(stdout)).toEqual([["token", "a b", "--c=*"], "16", pid, process.pid]);
  expect(code).toBe(0);
  expect(stderr).toContain("npm says hello");
  expect(npmCalls()).toEqual(["ci --ignore-scripts --include=dev --no-audit --no-fund"]);
});

test("the second start installs nothing, a start with another lockfile does", async () => {
  await run(["checkout/cli/rekindle"]);
  expect((await run(["checkout/cli/rekindle"])).stderr).toBe("");
  expect(npmCalls()).toHaveLength(1);
  put("checkout/package-lock.json", lock("1.0.1"));
  await run(["checkout/cli/rekindle"]);
  expect(npmCalls()).toHaveLength(2);
});

test("two first starts at once install once", async () => {
  const both = await Promise.all([run(["checkout/cli/rekindle", "a"]), run(["checkout/cli/rekindle", "b"])]);
  expect(both.map(({ stdout }) => JSON.parse(stdout)[0])).toEqual([["a"], ["b"]]);
  expect(npmCalls()).toHaveLength(1);
  expect(existsSync(join(folder, "checkout/.installing"))).toBe(false);
});

test("the lock of an installation that was killed is taken over", async () => {
  const dead = Bun.spawn(["true"]);
  await dead.exited;
  symlinkSync(String(dead.pid), join(folder, "checkout/.installing"));
  expect((await run(["checkout/cli/rekindle"])).code).toBe(0);
  expect(existsSync(join(folder, "checkout/.installing"))).toBe(false);
});

/** As if the user had installed: what npm writes of it, and Bun where its postinstall puts it. */
function installedByHand(packages: Record<string, { version: string }>): void {
  put("checkout/node_modules/.package-lock.json", JSON.stringify({ packages }));
  mkdirSync(join(folder, "checkout/node_modules/bun/bin"), { recursive: true });
  symlinkSync(process.execPath, join(folder, "checkout/node_modules/bun/bin/bun.exe"));
}

test("what the user installed is used when it fits, without the packages of other platforms", async () => {
  installedByHand({ "node_modules/bun": { version: "1.0.0" }, "node_modules/checker": { version: "1.0.0" } });
  expect((await run(["checkout/cli/rekindle"])).code).toBe(0);
  expect(npmCalls()).toEqual([]);
});

test("what the user installed of another version is replaced", async () => {
  installedByHand({ "node_modules/bun": { version: "0.9.0" }, "node_modules/checker": { version: "1.0.0" } });
  expect((await run(["checkout/cli/rekindle"])).code).toBe(0);
  expect(npmCalls()).toHaveLength(1);
});

test("without development dependencies the service runs, and the tests install them", async () => {
  installedByHand({ "node_modules/bun": { version: "1.0.0" } });
  expect((await run(["checkout/cli/rekindle"])).code).toBe(0);
  expect(npmCalls()).toEqual([]);
  expect((await run(["checkout/cli/with-bun", "checkout/test/run.ts"])).stdout).toBe("tested\n");
  expect(npmCalls()).toHaveLength(1);
});

test("a published package without a lockfile finds Bun above it, through npx's links", async () => {
  rmSync(join(folder, "checkout/package-lock.json"));
  mkdirSync(join(folder, "app/node_modules/.bin"), { recursive: true });
  mkdirSync(join(folder, "app/node_modules/bun/bin"), { recursive: true });
  await Bun.$`mv ${folder}/checkout ${folder}/app/node_modules/rekindle`;
  symlinkSync("../rekindle/cli/rekindle", join(folder, "app/node_modules/.bin/rekindle"));
  symlinkSync(process.execPath, join(folder, "app/node_modules/bun/bin/bun.exe"));
  const { code, stdout } = await run(["app/node_modules/.bin/rekindle", "--help"]);
  expect(JSON.parse(stdout)[0]).toEqual(["--help"]);
  expect(code).toBe(0);
});

test("a thread pool that the user chose is kept", async () => {
  const { stdout } = await run(["checkout/cli/rekindle"], { UV_THREADPOOL_SIZE: "32" });
  expect(JSON.parse(stdout)[1]).toBe("32");
});

test("without npm, and without Bun, the message says what to do", async () => {
  for (const tool of ["sh", "readlink", "dirname", "cmp", "uname", "ln", "rm", "sleep", "kill"]) {
    const path = Bun.which(tool);
    if (path !== null) symlinkSync(path, join(folder, "bin", tool));
  }
  rmSync(join(folder, "bin/npm"));
  const withoutNpm = await run(["checkout/cli/rekindle"], { PATH: join(folder, "bin") });
  expect(withoutNpm).toMatchObject({ code: 1, stdout: "" });
  expect(withoutNpm.stderr).toContain("npm was not found. Install Node 20");
  rmSync(join(folder, "checkout/package-lock.json"));
  const withoutBun = await run(["checkout/cli/rekindle"], { PATH: join(folder, "bin") });
  expect(withoutBun).toMatchObject({ code: 1, stdout: "" });
  expect(withoutBun.stderr).toContain("Bun was not found");
});

test("an installation that fails ends with npm's own message, and leaves no lock", async () => {
  put("bin/npm", "#!/bin/sh\necho 'no network' >&2\nexit 1\n");
  const { code, stdout, stderr } = await run(["checkout/cli/rekindle"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/no network\n.*npm ci failed/);
  expect(existsSync(join(folder, "checkout/.installing"))).toBe(false);
});
