/** How often a server has looked for work by itself: a look that finds nothing leaves no other trace. */
import type { Server } from "../server.ts";
import { until } from "../until.ts";

type Work = "notices" | "rules at every look" | "rules once a scored day" | "digests" | "segments";

/** What the server needs, so that its log has a line for each look. */
export const logsLooks = { LOG_LEVEL: "debug" };

/** Waits until the server has looked for this work twice more, each time from beginning to end. */
export async function twoMoreLooks(server: Server, work: Work): Promise<void> {
  const line = `"work":"${work}","msg":"looked"`;
  const looks = () => server.output().split(line).length - 1;
  // The next line may be of a look that has begun already.
  const wanted = looks() + 3;
  await until(`there were ${wanted} looks for ${work}`, looks, (seen) => seen >= wanted);
}
