/** `rekindle serve` that lets connections be slow for longer than a test may take: what ends them is something else. */
import { serve } from "../../server/main.ts";

const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : "all", { untilStdinEnds: analysis, http: { idleTimeoutSeconds: 255 } });
process.exit(0);
