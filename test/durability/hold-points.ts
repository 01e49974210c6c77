/** The points at which a process is held, and how a test and the held process speak about them: see
 * holds.ts. */
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Of a call of analysis: it is not sent yet, has arrived at intake, or is done and not answered yet. Of a
 * statement: it is not sent, runs, or is done.
 */
export type Step = "before" | "arrived" | "within" | "after";

export interface HoldPoint {
  readonly step: Step;
  /** The name of a call, such as `erasures.finish`, or the begin of a statement, such as `ALTER TABLE
   * events`. */
  readonly of: string;
  /** The process is held when it comes there for this time. Default: the first. */
  readonly count?: number;
}

/** The files of a data folder by which a test and the held process speak. */
export function holdFiles(dataDir: string) {
  return {
    wanted: join(dataDir, "hold"),
    held: (number: number) => join(dataDir, `held-${number}`),
    answered: (number: number) => join(dataDir, `answered-${number}`),
  };
}

/** Writes a file that another process waits for: as soon as it is there it is whole. */
export function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
