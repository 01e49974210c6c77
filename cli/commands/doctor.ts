/** `rekindle doctor` */
import { Command } from "commander";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import { withAnalysis } from "../analysis.ts";

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("Compare ledger, events and rollups for every organization and day, and look at the inbox")
    .action(() =>
      withAnalysis(async ({ ledger, served, config }, analysis) => {
        console.log(`data folder   ${config.dataDir}`);
        console.log(`server        ${served ? "running" : "not running"}`);
        const deadLetters = await ledger.deadLetters.count({});
        console.log(`dead letters  ${deadLetters}`);
        for (const { at, reason } of await newestDeadLetters(ledger)) console.log(`  ${at}  ${reason}`);
        let differences = 0;
        for (const organization of await ledger.organizations.list()) {
          const found = await analysis.check(organization.id);
          differences += found.length;
          console.log(
            `${organization.name}: ${found.length === 0 ? "ledger, events and rollups agree" : ""}`,
          );
          for (const difference of found) console.log(`  ${difference}`);
        }
        if (differences > 0 || deadLetters > 0) process.exitCode = 1;
      }),
    );
}

const shownDeadLetters = 5;

async function newestDeadLetters(ledger: SharedLedger) {
  const letters = await ledger.deadLetters.list({}, shownDeadLetters);
  return letters.map(({ atMs, reason }) => ({ at: new Date(atMs).toISOString(), reason }));
}
