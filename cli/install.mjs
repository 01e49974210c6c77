/**
 * Installs what package-lock.json asks for: `node cli/install.mjs production` the packages of the service,
 * `development` those of tests and benchmarks, too. cli/with-bun calls it when they are not there, and npm
 * before `npm start`. It is JavaScript for Node, because there is no Bun yet.
 *
 * Packages are added beside those that are there: a service that runs in the same checkout goes on, and finds
 * its files when it starts a process. Only without a whole installation `npm ci` makes one from nothing.
 */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const lockfile = join(root, "package-lock.json");
/** Outside of node_modules, because `npm ci` begins by deleting that. */
const installing = join(root, ".installing");
const maxWaitMs = 15 * 60_000;
const retryMs = 200;
/** On Linux x64. test/long/install.long.test.ts measures them on the disk. */
const sizes = {
  production: { diskMegabytes: 850, downloadMegabytes: 277 },
  development: { diskMegabytes: 530, downloadMegabytes: 195 },
};

const supportedPlatforms = ["linux on x64", "linux on arm64", "darwin on x64", "darwin on arm64"];

const say = (text) => process.stderr.write(`rekindle: ${text}\n`);

function fail(text) {
  say(text);
  process.exit(1);
}

/** `linux (musl) on x64`, for example. Bun or chDB has no program for those that are not supported. */
function platform() {
  return `${process.platform}${process.platform === "linux" && !hasGlibc() ? " (musl)" : ""} on ${process.arch}`;
}

/** Only a Node that is linked with glibc knows its version. */
function hasGlibc() {
  // Otherwise the report looks up names of hosts.
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime !== undefined;
}

/** The copies of package-lock.json that say what is installed. cli/with-bun compares them. */
const notes = (need) => (need === "production" ? [need] : ["production", need]).map(noteOf);
const noteOf = (need) => join(modules, `.installed-${need}.json`);

function isNoted(need) {
  const note = noteOf(need);
  return existsSync(note) && readFileSync(note).equals(readFileSync(lockfile));
}

/** Only makes the next start fast, so a folder that cannot be written to is no error. */
function note(need) {
  try {
    for (const path of notes(need)) {
      copyFileSync(lockfile, `${path}.${process.pid}`);
      renameSync(`${path}.${process.pid}`, path);
    }
  } catch {}
}

/** The packages by their folder; undefined without the file. @param path a package-lock.json or npm's list of
 * what it installed */
function packagesOf(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : undefined;
}

/** npm writes this list when it has finished. It lacks the optional packages of other platforms. */
const installedPackages = () => packagesOf(join(modules, ".package-lock.json"));

/** Whether every package is there in its version, also when the user ran npm. */
function isComplete(need, wanted, present) {
  return Object.entries(wanted).every(([path, { version, optional, devOptional, dev }]) => {
    if (path === "" || (dev && need === "production")) return true;
    return path in present ? present[path].version === version : optional || devOptional;
  });
}

/**
 * Removes packages that an installation had begun to write when it was killed: they are not in npm's list.
 * npm would take them for whole, as it looks at their package.json alone.
 */
function removeUnfinished(wanted, present) {
  for (const path of Object.keys(wanted)) {
    const folder = join(root, path);
    // The lockfile names our own folders, too: the root and dashboard/.
    if (!path.startsWith("node_modules/") || !existsSync(folder)) continue;
    if (present[path] === undefined || present[path].version !== versionIn(folder))
      rmSync(folder, { recursive: true });
  }
}

function versionIn(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
  } catch {
    return undefined;
  }
}

let npm;

/** npm's own output goes to stderr: stdout belongs to the program that is started afterwards. */
function runNpm(words) {
  return new Promise((resolve) => {
    npm = spawn("npm", words, { cwd: root, stdio: ["ignore", 2, 2] });
    npm.on("error", (error) => fail(`npm does not start: ${error.message}`));
    npm.on("close", (code) => resolve(code === 0));
  });
}

async function install(need) {
  const wanted = packagesOf(lockfile);
  const present = installedPackages();
  if (present !== undefined) removeUnfinished(wanted, present);
  // A lockfile of another version must not take development packages away from tests that run.
  const withDevelopment = need === "development" || Object.values(present ?? {}).some(({ dev }) => dev);
  say(announcement(need, wanted, present));
  const command = present === undefined ? ["ci"] : ["install", "--no-save"];
  // NODE_ENV=production would leave the development packages out.
  const which = withDevelopment ? "--include=dev" : "--omit=dev";
  const isDone = await runNpm([...command, which, "--ignore-scripts", "--no-audit", "--no-fund"]);
  if (!isDone) throw new Error(`npm ${command[0]} failed in ${root}; its message is above.`);
  note(withDevelopment ? "development" : "production");
}

function announcement(need, wanted, present) {
  const { production, development } = sizes;
  const about = (...parts) => {
    const sum = (name) => parts.reduce((total, part) => total + part[name], 0);
    return `about ${sum("diskMegabytes")} MB (${sum("downloadMegabytes")} MB to download) …`;
  };
  if (present === undefined) {
    if (need === "production") return `installing, ${about(production)}`;
    return `installing the service and its development packages, ${about(production, development)}`;
  }
  if (isComplete("production", wanted, present))
    return `adding the development packages, ${about(development)}`;
  return "installing what package-lock.json asks for and is missing …";
}

/**
 * Takes the lock: a link whose target is the holder's process id, made in one step with its holder. Waits
 * while another process has it.
 */
async function lock() {
  const sinceMs = Date.now();
  let isFirst = true;
  while (true) {
    try {
      symlinkSync(String(process.pid), installing);
      return;
    } catch (error) {
      if (error.code !== "EEXIST")
        fail(
          `packages have to be installed, and this user may not write to ${root} (${error.code}). Run 'npm ci --omit=dev' there as its owner.`,
        );
    }
    const process_ = holder();
    if (process_ === undefined) continue;
    if (!isAlive(process_)) removeAbandonedLock();
    else if (isFirst) {
      say("another process is installing packages; waiting for it.");
      isFirst = false;
    }
    if (Date.now() - sinceMs > maxWaitMs)
      fail(`process ${process_} has been installing for 15 minutes. If it is not, remove ${installing}.`);
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

/** The lock's holder; undefined when it was removed meanwhile. */
function holder() {
  try {
    return Number(readlinkSync(installing));
  } catch {
    return undefined;
  }
}

function isAlive(id) {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/**
 * Looks again while holding a lock of its own. Of two that found the same dead holder, the slower one would
 * otherwise remove the lock that the faster one has taken since.
 */
function removeAbandonedLock() {
  const removal = `${installing}.removal`;
  try {
    mkdirSync(removal);
  } catch {
    return;
  }
  const id = holder();
  if (id !== undefined && !isAlive(id)) rmSync(installing);
  rmdirSync(removal);
}

function isInstalled(need) {
  if (isNoted(need)) return true;
  const present = installedPackages();
  if (present === undefined || !isComplete(need, packagesOf(lockfile), present)) return false;
  note(need);
  return true;
}

const [need] = process.argv.slice(2);
if (need !== "production" && need !== "development")
  fail("usage: node cli/install.mjs production|development");
if (!supportedPlatforms.includes(platform()))
  fail(
    `Rekindle runs on Linux with glibc and on macOS, on x64 and arm64. This is ${platform()}. The container of deploy/Dockerfile runs on other systems, too.`,
  );
if (existsSync(lockfile) && !isInstalled(need)) {
  await lock();
  // Ctrl-C reaches npm as well. The lock goes when npm has ended.
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => npm?.kill(signal));
  let failure;
  try {
    // Another process may have installed while this one waited.
    if (!isInstalled(need)) await install(need);
  } catch (error) {
    failure = error.message;
  } finally {
    rmSync(installing, { force: true });
  }
  if (failure !== undefined) fail(failure);
}
