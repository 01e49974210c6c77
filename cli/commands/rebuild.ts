/** `rekindle rebuild` */

import { Command } from "commander";
import { withAnalysis } from "../analysis.ts";
import { eachOrganization } from "../each-organization.ts";
import { printable } from "../output.ts";

export function rebuildCommand(): Command {
  return new Command("rebuild")
    .description(
      "Compute the days of all events again, in the organization's timezone, and every rollup from them",
    )
    .option("--organization <name>", "only this one; without it, every organization")
    .action(({ organization: name }: { organization?: string }) =>
      withAnalysis(async ({ ledger }, analysis) => {
        await eachOrganization(ledger, name, async (organization) => {
          const startedMs = performance.now();
          await analysis.rebuild(organization.id);
          const seconds = (performance.now() - startedMs) / 1_000;
          process.stderr.write(`rebuilt ${printable(organization.name)} in ${seconds.toFixed(1)} s\n`);
          return true;
        });
      }),
    );
}
