/** `rekindle serve` with a wall clock that is wrong by the milliseconds in the file `clock-skew-ms` of its data folder. */
import "./skewed-clock.ts";
import { serve } from "../server/main.ts";

const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : process.argv.includes("all") ? "all" : "intake", {
  untilStdinEnds: analysis,
});
process.exit(0);
