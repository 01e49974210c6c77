/** `rekindle serve` with a clock for people that a test puts forward, by writing milliseconds to a file. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { serve } from "../../server/main.ts";

const file = join(process.env.DATA_DIR ?? "", "clock-forward");
const forwardMs = () => (existsSync(file) ? Number(readFileSync(file, "utf8")) : 0);
const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : "intake", {
  untilStdinEnds: analysis,
  nowMs: () => Date.now() + forwardMs(),
});
process.exit(0);
