/** Only the service's user has access to the data folder, also to a folder that was there before. The same is
 * true of sockets that do not fit into it. */
import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeLock } from "../../server/process/lock.ts";
import { makePrivate } from "../../server/process/private-files.ts";
import { socketPath } from "../../server/process/sockets.ts";
import { rekindle, rekindleWith, Server } from "../server.ts";
import { user } from "../specification/support.ts";

const folders: string[] = [];
const isRoot = process.geteuid?.() === 0;
const nobody = 65_534;

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(mode: number): string {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-open-"));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

/** The paths that other users can read, list or write to. */
function openIn(folder: string): string[] {
  const below = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return [folder, ...below.map((name) => join(folder, name))].filter((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    return found !== undefined && !found.isSymbolicLink() && (found.mode & 0o077) !== 0;
  });
}

test("a folder that was there before is closed, with all in it, and what is made later is closed, too", async () => {
  const dataDir = newFolder(0o755);
  const before = await Server.start({ dataDir });
  await before.ready();
  await before.stop();
  for (const path of ["", ...readdirSync(dataDir, { recursive: true, encoding: "utf8" })]) {
    const full = join(dataDir, path);
    chmodSync(full, lstatSync(full).isDirectory() ? 0o755 : 0o644);
  }
  expect(openIn(dataDir).length).toBeGreaterThan(10);
  const server = await Server.start({ dataDir });
  try {
    await server.ready();
    const token = await server.organization("Closed");
    await server.post("/identify", token, user("u"));
    await server.exported("users", "Closed");
    expect(openIn(dataDir)).toEqual([]);
  } finally {
    await server.stop();
  }
  expect(openIn(dataDir)).toEqual([]);
});

test("the command line closes it, too, when it opens the ledger itself", async () => {
  const dataDir = newFolder(0o755);
  expect((await rekindle(dataDir, "demo", "--help")).exitCode).toBe(0);
  const server = await Server.start({ dataDir });
  await server.stop();
  for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o755);
  chmodSync(dataDir, 0o755);
  expect((await rekindle(dataDir, "organization", "create", "Closed")).exitCode).toBe(0);
  expect(openIn(dataDir)).toEqual([]);
});

test("links are not followed, and the rights of the user stay", () => {
  const outside = newFolder(0o755);
  const folder = newFolder(0o755);
  writeFileSync(join(outside, "file"), "");
  chmodSync(join(outside, "file"), 0o644);
  symlinkSync(outside, join(folder, "link"));
  writeFileSync(join(folder, "program"), "");
  chmodSync(join(folder, "program"), 0o755);
  expect(makePrivate(folder)).toEqual([]);
  expect(lstatSync(join(folder, "program")).mode & 0o777).toBe(0o700);
  expect([outside, join(outside, "file")].map((path) => lstatSync(path).mode & 0o777)).toEqual([
    0o755, 0o644,
  ]);
});

/** Root may change the rights of every file, so the test is another user for a moment. */
function asNobody<Result>(what: () => Result): Result {
  if (process.geteuid?.() !== 0) return what();
  process.seteuid?.(nobody);
  try {
    return what();
  } finally {
    process.seteuid?.(0);
  }
}

test("a file of another user fails no start: a warning names it", () => {
  const folder = newFolder(0o755);
  const foreign = isRoot ? join(folder, "of-root") : "/etc/hostname";
  if (isRoot) {
    writeFileSync(foreign, "");
    chmodSync(foreign, 0o644);
    chownSync(folder, nobody, nobody);
    const lock = asNobody(() => takeLock(folder, "ledger"));
    lock?.release();
    expect(lock?.openFilesWarning).toStartWith(
      `1 file in DATA_DIR can be read by other users and belongs to another`,
    );
    expect(lock?.openFilesWarning).toContain(
      `"${foreign}" among them: run chown -R ${nobody} "${folder}" as root.`,
    );
    expect(openIn(folder)).toEqual([foreign]);
  } else {
    expect(makePrivate(foreign)).toEqual([foreign]);
  }
});

const tooLong = () => join(newFolder(0o700), "x".repeat(60), "y".repeat(60));

test("sockets of a long DATA_DIR lie in a folder of this user alone", async () => {
  const dataDir = tooLong();
  const server = await Server.start({ dataDir });
  try {
    await server.ready();
    const folder = join(socketPath(dataDir, "control"), "..");
    folders.push(folder);
    expect(readdirSync(folder).sort()).toEqual(["analysis.sock", "control.sock"]);
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    await server.command("organization", "list");
  } finally {
    await server.stop();
  }
});

test("a folder that another user has made there, or that is open, stops the start", async () => {
  const dataDir = tooLong();
  mkdirSync(dataDir, { recursive: true });
  const folder = join(socketPath(dataDir, "control"), "..");
  folders.push(folder);
  const refusals: string[] = [];
  const tried = async () => {
    const { exitCode, stderr } = await rekindleWith(dataDir, {}, "serve");
    expect(exitCode).toBe(1);
    refusals.push(stderr);
  };
  chmodSync(folder, 0o777);
  await tried();
  chmodSync(folder, 0o700);
  if (isRoot) {
    chownSync(folder, nobody, nobody);
    await tried();
  }
  rmSync(folder, { recursive: true });
  symlinkSync(newFolder(0o700), folder);
  await tried();
  for (const stderr of refusals) expect(stderr).toContain("is not this user's alone: set DATA_DIR to a path");
});
