/** `rekindle serve` with a notice before its stop, as on a node of a cluster. It stops when a file confirms
 * the notice. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../server/config.ts";
import { serve } from "../../server/main.ts";

const analysis = process.argv.includes("analysis");
const file = join(readConfig().dataDir, "noticed");
await serve(analysis ? "analysis" : "all", {
  untilStdinEnds: analysis,
  noticed: async () => {
    while (!existsSync(file)) await Bun.sleep(20);
  },
});
process.exit(0);
