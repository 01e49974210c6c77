/** `rekindle rebuild` */
import { Command } from "commander";
import { withAnalysis } from "../analysis.ts";
import { organizationNamed } from "../installation.ts";

export function rebuildCommand(): Command {
  return new Command("rebuild")
    .description(
      "Compute the days of all events again, in the organization's timezone, and every rollup from them",
    )
    .option("--organization <name>", "only this one; without it, every organization")
    .action(({ organization: name }: { organization?: string }) =>
      withAnalysis(async ({ ledger }, analysis) => {
        const organizations =
          name === undefined ? await ledger.organizations.list() : [await organizationNamed(ledger, name)];
        for (const organization of organizations) {
          const startedMs = performance.now();
          await analysis.rebuild(organization.id);
          const seconds = (performance.now() - startedMs) / 1_000;
          process.stderr.write(`rebuilt ${organization.name} in ${seconds.toFixed(1)} s\n`);
        }
      }),
    );
}
