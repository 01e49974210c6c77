/**
 * `rekindle serve` as tests start it, with a clock and intervals of theirs: see test/served-as.ts. Analysis,
 * which it starts as a child, is this script again, with the same variable.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { builtPages } from "../cli/pages.ts";
import { readConfig } from "../server/config.ts";
import { roles, serve } from "../server/start/main.ts";
import { type ServedAs, servedAsVariable, timeOf } from "./served-as.ts";
import { until } from "./until.ts";

const asked: ServedAs & { readonly clockOf: string } = JSON.parse(process.env[servedAsVariable] ?? "");
const role = roles.find((one) => one === process.argv[process.argv.indexOf("--role") + 1]) ?? "all";
const dashboardFolder = role === "analysis" ? undefined : await builtPages();
const notice = join(readConfig().dataDir, "noticed");
const noticed = async () => {
  await until("the notice is confirmed", () => existsSync(notice));
};

await serve(role, {
  untilStdinEnds: process.argv.includes("--until-stdin-ends"),
  time: timeOf(asked.time ?? {}, asked.clockOf),
  http: { ...asked.http, ...(dashboardFolder !== undefined && { dashboardFolder }) },
  ...(asked.ledger !== undefined && { ledger: asked.ledger }),
  ...(asked.waitsForNotice && { noticed }),
});
process.exit(0);
