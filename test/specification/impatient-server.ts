/** `rekindle serve` with a deadline of 4 seconds, the shortest that Bun can keep, for connections that are slow. */
import { serve } from "../../server/main.ts";

const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : "all", { untilStdinEnds: analysis, http: { idleTimeoutSeconds: 4 } });
process.exit(0);
