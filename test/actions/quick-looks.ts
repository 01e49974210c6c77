/** `rekindle serve` that looks for work of alert rules four times a second, not every ten seconds. */
import { serve } from "../../server/main.ts";

const looksEveryMs = 10_000;
const ordinary = globalThis.setInterval;
const quick = (work: () => void, ms?: number) => ordinary(work, ms === looksEveryMs ? 250 : ms);
globalThis.setInterval = quick as typeof globalThis.setInterval;
const analysis = process.argv.includes("analysis");
await serve(analysis ? "analysis" : "all", { untilStdinEnds: analysis });
process.exit(0);
