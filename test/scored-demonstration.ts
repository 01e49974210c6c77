/**
 * A data folder with the demonstration and all its scores, built once and copied by tests. It lies in
 * node_modules/.cache under a hash of the code that makes it. Its clock always shows one instant, so it is
 * the same on every day.
 */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatDay } from "../server/calendar/days.ts";
import { startOfPeriod } from "../server/calendar/period-starts.ts";
import { historyDays } from "../server/scoring/scores/history-days.ts";
import { countAlso, countAsMaking } from "./runner/counting.ts";
import type { ServedTime } from "./served-as.ts";
import { Server } from "./server.ts";
import { until } from "./until.ts";

const root = join(import.meta.dir, "..");
const cache = join(root, "node_modules", ".cache", "scored-demonstration");
/** More than the 200 rows that a list shows at once. 30 weeks allow a first back-test, and are too few for a
 * proof. */
const size = { users: 230, weeks: 30 } as const;
const msPerHour = 3_600_000;
const msPerDay = 24 * msPerHour;
/** The demonstration ends at this instant. It is far from midnight: scores of a day wait for five minutes. */
const demonstratedAtMs = Date.UTC(2026, 10, 26, 12);
/** Servers of copies begin at this instant. What the build wrote lies in the past then. */
const shownAtMs = demonstratedAtMs + msPerHour;
/** Today on servers of copies, in days since 1970-01-01. */
export const demonstrationDay = Math.floor(shownAtMs / msPerDay);
const hashCharacters = 16;
const countedName = "demonstration";

/** The code that makes the folder: the service, and what the demonstration sends. */
const sources = ["server", "simulation", "contract", "cli"];
const files = ["package-lock.json", "test/scored-demonstration.ts", "test/serve.ts", "test/served-as.ts"];

/** The time of a server of a copy. It goes on from one hour after the demonstration. Only commands score:
 * otherwise all earlier days of the tests' own organizations were scored beside them. */
export function demonstrationTime(): ServedTime {
  return { aheadMs: shownAtMs - Date.now(), scheduleMs: null };
}

/** Copies the folder to a new one, which the caller removes. */
export async function copiedDemonstration(): Promise<string> {
  const built = await scoredDemonstration();
  countAlso(countedName);
  const copy = mkdtempSync(join(tmpdir(), "rekindle-test-"));
  cpSync(built, copy, { recursive: true });
  return copy;
}

/** The folder, which is built when it is not there. It must not be written to. */
export async function scoredDemonstration(): Promise<string> {
  const folder = join(cache, demonstrationKey(root));
  mkdirSync(cache, { recursive: true });
  const found = await until(
    "the demonstration is there, or this process may build it",
    () => (existsSync(folder) ? "built" : lock() && "locked"),
    Boolean,
    { limitMs: buildLimitMs },
  );
  if (found !== "locked") return folder;
  try {
    if (!existsSync(folder)) {
      await build(folder);
      countAsMaking(countedName);
    }
  } finally {
    rmSync(lockPath, { force: true });
  }
  return folder;
}

/** 40 s on idle cores. */
const buildLimitMs = 20 * 60_000;

const lockPath = join(cache, ".lock");

/** Whether this process may build now. The lock is a link whose target is the holder's process id. */
function lock(): boolean {
  try {
    symlinkSync(String(process.pid), lockPath);
    return true;
  } catch {
    const holder = holderOfLock();
    if (holder !== undefined && !existsSync(`/proc/${holder}`)) rmSync(lockPath, { force: true });
    return false;
  }
}

function holderOfLock(): string | undefined {
  try {
    return readlinkSync(lockPath);
  } catch {
    return undefined;
  }
}

async function build(folder: string): Promise<void> {
  const unfinished = join(cache, ".unfinished");
  rmSync(unfinished, { recursive: true, force: true });
  await fill(unfinished);
  // Other processes may still copy an older folder.
  for (const name of readdirSync(cache)) {
    const other = join(cache, name);
    if (!name.startsWith(".") && Date.now() - statSync(other).mtimeMs > msPerHour) {
      rmSync(other, { recursive: true, force: true });
    }
  }
  renameSync(unfinished, folder);
}

async function fill(dataDir: string): Promise<void> {
  mkdirSync(dataDir);
  // Its own schedule would score the same days beside the commands. It is started from the sources, which
  // name the folder: the bundle of a run is of the sources when the run began.
  const server = await Server.start({
    dataDir,
    entry: join(import.meta.dir, "serve.ts"),
    time: { scheduleMs: null },
  });
  try {
    await server.ready();
    await server.demo("--users", String(size.users), "--weeks", String(size.weeks));
    for (const day of [demonstrationDay, ...scoredDays()])
      await server.command("score", "--organization", "Demo", "--as-of", formatDay(day));
  } finally {
    await server.stop();
  }
}

/** The days that the service would score first: those that today is compared with, the last week, and all
 * Mondays. The others of 90 days would take as long again. */
function scoredDays(): number[] {
  const isWanted = (day: number) => {
    const before = demonstrationDay - day;
    return before <= 7 || before === 28 || startOfPeriod(day, { name: "week", weekStart: 1 }) === day;
  };
  return historyDays(demonstrationDay, demonstrationDay - 7 * size.weeks).filter(isWanted);
}

/** Names the folder that the code below `at` makes. */
export function demonstrationKey(at: string): string {
  const hash = createHash("sha256");
  const own = sources.flatMap((source) =>
    readdirSync(join(at, source), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  for (const path of [...own, ...files.map((file) => join(at, file))].sort()) {
    const bytes = readFileSync(path);
    hash.update(`${path.slice(at.length)} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex").slice(0, hashCharacters);
}
