/** `rekindle serve` that gives notice before it stops, as a node of a cluster does, for longer. */
import { serve } from "../../server/main.ts";

const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : "all", { untilStdinEnds: analysis, noticeMs: 5_000 });
process.exit(0);
