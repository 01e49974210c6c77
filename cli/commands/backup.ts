/** `rekindle backup` */
import { rm } from "node:fs/promises";
import { resolve } from "node:path";
import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { AnswerBroken } from "../../server/process/control.ts";
import { unfinishedPath } from "../../server/process/files.ts";
import { withAnalysis } from "../analysis.ts";
import { megabytes } from "../print.ts";
import { bytesProgress } from "../progress.ts";

export function backupCommand(): Command {
  return new Command("backup")
    .description("Write a backup of everything into a new folder, while the server runs")
    .argument("<folder>", "where nothing is yet, or an empty folder; not in the data folder")
    .action((folder: string) =>
      withAnalysis(async (_installation, analysis) => {
        const startedMs = performance.now();
        const line = bytesProgress();
        const path = resolve(folder);
        const request = { folder: path, progress: line.report, signal: interruption(path) };
        const { events, organizations, files, bytes, pausedMs } = await analysis
          .backUp(request)
          .catch(async (error: unknown) => {
            // Analysis has died, and cannot remove what is not whole.
            if (error instanceof AnswerBroken)
              await rm(unfinishedPath(path), { recursive: true, force: true });
            throw error;
          })
          .finally(() => line.end());
        const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
        process.stderr.write(
          `backup of ${events} events of ${organizations} organizations: ${files} files, ` +
            `${megabytes(bytes)} MB, in ${seconds} s; loading was paused for ${pausedMs.toFixed(0)} ms\n`,
        );
      }),
    );
}

/** Aborted by Ctrl-C, which removes an unfinished backup; at the very end it may come too late for that. A
 * second Ctrl-C ends the process at once. */
function interruption(folder: string): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () =>
      interrupted.abort(
        new Refusal(`the backup was interrupted: ${folder} is there only if it was whole by then.`),
      ),
    );
  }
  return interrupted.signal;
}
