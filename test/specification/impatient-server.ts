/** `rekindle serve` with a deadline of 12 seconds for slow connections. Bun could keep one of 4. But a
 * machine may stand still for longer, and then fast connections would be cut off as well. */
import { serve } from "../../server/main.ts";

const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : "all", { untilStdinEnds: analysis, http: { idleTimeoutSeconds: 12 } });
process.exit(0);
