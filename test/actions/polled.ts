/** How often a server has run a job: a run that finds nothing to do leaves a trace in its log alone. */
import type { Server } from "../server.ts";
import { until } from "../until.ts";

type JobName = "notices" | "moments" | "nightly decision" | "digest" | "segments";

/** Settings of a server whose log has a line for each run of a job. */
export const logsRuns = { LOG_LEVEL: "debug" };

/** Waits until the server has run the job twice more, each time from beginning to end. */
export async function twoMoreRuns(server: Server, job: JobName): Promise<void> {
  const line = `"work":"${job}","msg":"looked"`;
  const runs = () => server.output().split(line).length - 1;
  // The next line may be of a run that has begun already.
  const wanted = runs() + 3;
  await until(`there were ${wanted} runs of ${job}`, runs, (seen) => seen >= wanted);
}
