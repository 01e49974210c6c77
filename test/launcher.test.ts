/**
 * cli/rekindle, cli/with-bun and cli/install.mjs in a checkout of their own. `npm` is a script here that
 * writes what npm would write. The real one takes half a minute and a network: test/long/install.long.test.ts
 * runs it.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
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

/** `npm ci` removes node_modules first. `npm install` leaves its contents. */
const npm = `#!/bin/sh
echo "npm says hello"
echo "$*" >> npm-calls
sleep 0.3
case $1 in ci) rm -rf node_modules ;; esac
mkdir -p node_modules/bun/bin node_modules/@oven/bun-a/bin node_modules/@oven/bun-b/bin
printf 'echo "postinstall was not run" >&2\\nexit 1\\n' > node_modules/bun/bin/bun.exe
printf '#!/no/such/loader\\n' > node_modules/@oven/bun-a/bin/bun
ln -sf "$REAL_BUN" node_modules/@oven/bun-b/bin/bun
chmod +x node_modules/bun/bin/bun.exe node_modules/@oven/bun-a/bin/bun
node -e '
  const fs = require("fs");
  const { packages } = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
  for (const [path, { version, dev, optional }] of Object.entries(packages)) {
    if (path === "" || optional || (dev && process.argv.includes("--omit=dev"))) delete packages[path];
    else {
      fs.mkdirSync(path, { recursive: true });
      fs.writeFileSync(path + "/package.json", JSON.stringify({ version }));
    }
  }
  fs.writeFileSync("node_modules/.package-lock.json", JSON.stringify({ packages }));
' -- "$@"
`;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "rekindle-launcher-")));
  for (const name of ["rekindle", "with-bun", "install.mjs"]) {
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

const always = "--ignore-scripts --no-audit --no-fund";
const npmCalls = () => {
  const path = join(folder, "checkout/npm-calls");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
};

test("the first start installs the service's packages, says how much on stderr, and runs Bun in place of itself", async () => {
  const { code, stdout, stderr, pid } = await run(["checkout/cli/rekindle", "token", "a b", "--c=*"]);
  expect(JSON.parse(stdout)).toEqual([["token", "a b", "--c=*"], "16", pid, process.pid]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^rekindle: installing, about 850 MB \(277 MB to download\) …\nnpm says hello/);
  expect(npmCalls()).toEqual([`ci --omit=dev ${always}`]);
});

test("the second start installs nothing, a start with another lockfile does", async () => {
  await run(["checkout/cli/rekindle"]);
  expect((await run(["checkout/cli/rekindle"])).stderr).toBe("");
  expect(npmCalls()).toHaveLength(1);
  put("checkout/package-lock.json", lock("1.0.1"));
  await run(["checkout/cli/rekindle"]);
  expect(npmCalls().slice(1)).toEqual([`install --no-save --omit=dev ${always}`]);
  expect((await run(["checkout/cli/rekindle"])).stderr).toBe("");
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

test("packages that the user installed are used when they fit, without those of other platforms", async () => {
  installedByHand({ "node_modules/bun": { version: "1.0.0" }, "node_modules/checker": { version: "1.0.0" } });
  expect((await run(["checkout/cli/rekindle"])).code).toBe(0);
  expect(npmCalls()).toEqual([]);
});

test("packages of another version that the user installed are replaced", async () => {
  installedByHand({ "node_modules/bun": { version: "0.9.0" }, "node_modules/checker": { version: "1.0.0" } });
  expect((await run(["checkout/cli/rekindle"])).code).toBe(0);
  expect(npmCalls()).toHaveLength(1);
});

describe("tests", () => {
  const tests = ["checkout/cli/with-bun", "checkout/test/run.ts"];
  const adding = `install --no-save --include=dev ${always}`;

  test("add the development packages to an installation without them, which the service can use", async () => {
    installedByHand({ "node_modules/bun": { version: "1.0.0" } });
    put("checkout/node_modules/bun/package.json", JSON.stringify({ version: "1.0.0" }));
    expect((await run(["checkout/cli/rekindle"])).code).toBe(0);
    expect(npmCalls()).toEqual([]);
    const { stdout, stderr } = await run(tests);
    expect(stdout).toBe("tested\n");
    expect(stderr).toContain("adding the development packages, about 530 MB (195 MB to download)");
    expect(npmCalls()).toEqual([adding]);
  });

  test("install both kinds at once where nothing is", async () => {
    const { stdout, stderr } = await run(tests);
    expect(stdout).toBe("tested\n");
    expect(stderr).toContain("installing the service and its development packages, about 1380 MB");
    expect((await run(["checkout/cli/rekindle"])).stderr).toBe("");
    expect(npmCalls()).toEqual([`ci --include=dev ${always}`]);
  });

  test.each([
    ["bun test FILE", ["test", "./checkout/test/run.ts"]],
    ["a benchmark", ["checkout/bench/speed.ts"]],
    ["a program of a package", ["node_modules/checker/check.js"]],
  ])("are not alone: %s needs them, too", async (_, words) => {
    installedByHand({ "node_modules/bun": { version: "1.0.0" } });
    put("checkout/bench/speed.ts", "");
    await run(["checkout/cli/with-bun", ...words]);
    expect(npmCalls()).toEqual([adding]);
  });

  test("keep their packages when the service is started with another lockfile", async () => {
    await run(tests);
    put("checkout/package-lock.json", lock("1.0.1"));
    await run(["checkout/cli/rekindle"]);
    expect(npmCalls().slice(1)).toEqual([adding]);
    expect((await run(tests)).stderr).toBe("");
  });

  test("do not keep a start waiting while they install", async () => {
    await run(["checkout/cli/rekindle"]);
    symlinkSync(String(process.pid), join(folder, "checkout/.installing"));
    expect((await run(["checkout/cli/rekindle"])).stderr).toBe("");
  });

  test("and a start with nothing installed share what the first of them installs", async () => {
    const [tested, started] = await Promise.all([run(tests), run(["checkout/cli/rekindle", "a"])]);
    expect([tested.stdout, JSON.parse(started.stdout)[0]]).toEqual(["tested\n", ["a"]]);
    expect(npmCalls().filter((call) => call.startsWith("ci "))).toHaveLength(1);
  });
});

test("a package that a killed installation left half-written is written again, and a whole one is not touched", async () => {
  await run(["checkout/cli/rekindle"]);
  put("checkout/node_modules/bun/mark", "");
  put("checkout/node_modules/checker/package.json", JSON.stringify({ version: "1.0.0" }));
  put("checkout/node_modules/checker/half", "");
  await run(["checkout/cli/with-bun", "checkout/test/run.ts"]);
  expect(existsSync(join(folder, "checkout/node_modules/checker/half"))).toBe(false);
  expect(existsSync(join(folder, "checkout/node_modules/bun/mark"))).toBe(true);
  // Replaced by another version when it was killed: npm's list still has the old one.
  put("checkout/package-lock.json", lock("1.0.1"));
  put("checkout/node_modules/bun/package.json", JSON.stringify({ version: "1.0.1" }));
  await run(["checkout/cli/rekindle"]);
  expect(existsSync(join(folder, "checkout/node_modules/bun/mark"))).toBe(false);
});

test("where npm never finished, everything is installed anew", async () => {
  put("checkout/node_modules/bun/package.json", JSON.stringify({ version: "1.0.0" }));
  await run(["checkout/cli/rekindle"]);
  expect(npmCalls()).toEqual([`ci --omit=dev ${always}`]);
});

describe("a platform without Bun or chDB", () => {
  /** Node on another machine, as far as the launcher asks it. */
  const node = (platform: string, arch: string, glibc: boolean) => ({
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(
      `Object.defineProperty(process, "platform", { value: "${platform}" });
       Object.defineProperty(process, "arch", { value: "${arch}" });
       process.report.getReport = () => ({ header: ${glibc ? '{ glibcVersionRuntime: "2.36" }' : "{}"} });`,
    )}`,
  });

  test.each([
    ["win32", "x64", false, "win32 on x64"],
    ["linux", "x64", false, "linux (musl) on x64"],
    ["linux", "riscv64", true, "linux on riscv64"],
    ["freebsd", "arm64", false, "freebsd on arm64"],
  ] as const)("%s on %s is named and nothing is installed", async (name, arch, glibc, named) => {
    const { code, stdout, stderr } = await run(["checkout/cli/rekindle"], node(name, arch, glibc));
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toStartWith(
      `rekindle: Rekindle runs on Linux with glibc and on macOS, on x64 and arm64. This is ${named}.`,
    );
    expect(npmCalls()).toEqual([]);
  });

  test.each([
    ["linux", "arm64", true],
    ["darwin", "x64", false],
    ["darwin", "arm64", false],
  ] as const)("is not %s on %s", async (name, arch, glibc) => {
    expect((await run(["checkout/cli/rekindle"], node(name, arch, glibc))).code).toBe(0);
  });

  test("is named by `npm start` in a shell that cannot run the launcher, as on Windows", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(scripts.prestart).toBe("node cli/install.mjs production");
  });
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
  for (const tool of ["sh", "readlink", "dirname", "cmp", "uname", "node"]) {
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
