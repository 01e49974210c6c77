/** How tests start the service: with which clock, intervals and limits. `Server.start` hands it to
 * test/serve.ts in a variable. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Intervals, systemTime, type Time } from "../server/process/time.ts";

/** Intervals that differ from the product's, and the clock. */
export interface ServedTime extends Partial<Intervals> {
  /** How far the wall clock is ahead of the machine's at the start. `Server.putClockAhead` changes it.
   * Default: not at all. */
  readonly aheadMs?: number;
}

/** Everything that a server does by itself follows in a fraction of a second. Its inserts of few rows cost
 * more processor time, so a file with much writing or with erasures, which rewrite parts, is slower with
 * it. */
export const quick: ServedTime = {
  choresMs: 100,
  countsMs: 250,
  quietLoadMs: 200,
  emptyInboxMs: 100,
  exclusionsMs: 100,
  subscriptionsMs: 100,
  upkeepMs: 200,
  retentionMs: 500,
  actionsMs: 250,
};

export interface ServedAs {
  readonly time?: ServedTime;
  readonly http?: { readonly idleTimeoutSeconds: number };
  readonly ledger?: { readonly inboxMaxRetainedBytes: number };
  /** A server that was told to stop says so and goes on, as a node of a cluster does, until the file
   * `noticed` is in its folder. */
  readonly waitsForNotice?: true;
}

/** The variable with a `ServedAs` as JSON, and with the folder of the clock. */
export const servedAsVariable = "TEST_SERVED_AS";

const clockFile = (dataDir: string) => join(dataDir, "clock-skew-ms");

/** Puts the clock of the servers of a data folder ahead of the machine's, also while they run. */
export function putClockAhead(dataDir: string, ms: number): void {
  const file = clockFile(dataDir);
  // Renamed, so that no process reads half of it.
  writeFileSync(`${file}.new`, String(Math.round(ms)));
  renameSync(`${file}.new`, file);
}

/** The time of a server with this data folder. */
export function timeOf({ aheadMs: _aheadMs, ...intervals }: ServedTime, dataDir: string): Time {
  const file = clockFile(dataDir);
  const aheadMs = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
  return {
    nowMs: () => systemTime.nowMs() + aheadMs(),
    intervals: { ...systemTime.intervals, ...intervals },
  };
}
