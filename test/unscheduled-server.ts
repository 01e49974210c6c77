/**
 * `rekindle serve` that scores no organization by itself, as the shared server of the tests. A file's server ended with its
 * file. A shared one would score the organizations of all files, their earlier days included, for as long as the run takes.
 */
import { builtPages } from "../cli/pages.ts";
import { serve } from "../server/main.ts";
import { Scheduler } from "../server/scoring/run/scheduler.ts";

Scheduler.prototype.start = () => undefined;
const isAnalysis = process.argv.includes("analysis");
const dashboardFolder = isAnalysis ? undefined : await builtPages();
await serve(isAnalysis ? "analysis" : "all", {
  untilStdinEnds: isAnalysis,
  http: dashboardFolder === undefined ? {} : { dashboardFolder },
});
process.exit(0);
