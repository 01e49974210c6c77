/** `rekindle serve` */
import { Command, Option } from "commander";
import { type Role, roles, serve } from "../../server/start/main.ts";
import { builtPages } from "../pages.ts";

export function serveCommand(): Command {
  return new Command("serve")
    .description(
      "Run the service: its address and folders come from PORT, HOST, PUBLIC_URL, DATA_DIR, LOG_LEVEL",
    )
    .addOption(new Option("--role <role>", "which part to run").choices(roles).default("all"))
    .addOption(new Option("--until-stdin-ends", "leave when standard input ends").hideHelp())
    .action(async ({ role, untilStdinEnds }: { role: Role; untilStdinEnds?: boolean }) => {
      const dashboardFolder = role === "analysis" ? undefined : await builtPages();
      await serve(role, {
        untilStdinEnds: untilStdinEnds ?? false,
        http: dashboardFolder === undefined ? {} : { dashboardFolder },
      });
    });
}
