/** `rekindle serve` with a wall clock that is wrong by the milliseconds in the file `clock-skew-ms` of its data folder. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "../server/main.ts";

const file = join(process.env.DATA_DIR ?? "", "clock-skew-ms");
const trueNow = Date.now;
Date.now = () => trueNow() + (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : process.argv.includes("all") ? "all" : "intake", {
  untilStdinEnds: analysis,
});
process.exit(0);
