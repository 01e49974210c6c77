/** `rekindle serve` with an inbox that keeps nothing once it is loaded, so that a test sees it deleting. */
import { serve } from "../../server/main.ts";

const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : "all", {
  untilStdinEnds: analysis,
  ledger: { inboxMaxRetainedBytes: 0 },
});
process.exit(0);
