/** The progress of copying: what backup and restore tell of themselves, as a line. */
import { Progress } from "./progress.ts";

interface Copied {
  readonly step: string;
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/** A line of progress in megabytes. */
export function bytesProgress(): { readonly report: (copied: Copied) => void; readonly end: () => void } {
  const progress = new Progress("MB");
  return {
    report: ({ step, doneBytes, totalBytes }) =>
      progress.show({
        step,
        done: doneBytes / 1_000_000,
        fraction: totalBytes === 0 ? undefined : doneBytes / totalBytes,
      }),
    end: () => progress.end(),
  };
}
