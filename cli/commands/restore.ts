/** `rekindle restore` */
import { resolve } from "node:path";
import { Command } from "commander";
import { readConfig } from "../../server/config.ts";
import { systemTime } from "../../server/process/time.ts";
import { bytesProgress } from "../progress.ts";

export function restoreCommand(): Command {
  return new Command("restore")
    .description("Restore a backup into an empty DATA_DIR")
    .argument("<folder>", "a folder that rekindle backup wrote")
    .action(async (folder: string) => {
      const { dataDir } = readConfig();
      const startedMs = performance.now();
      const line = bytesProgress();
      // Loaded here only: the engine's library takes 130 MB.
      const { restore } = await import("../../server/start/restore.ts");
      const restored = await restore(dataDir, resolve(folder), systemTime.nowMs, line.report).finally(() =>
        line.end(),
      );
      const { events, organizations, createdAt, rekindle } = restored;
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
      process.stderr.write(
        `restored ${events} events of ${organizations} organizations into ${dataDir} in ${seconds} s, ` +
          `from the backup that Rekindle ${rekindle} made at ${createdAt}\n`,
      );
    });
}
