/** `rekindle doctor` */
import { Command } from "commander";
import { type ClusterConfig, readConfig } from "../../server/config.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import type { CheckResult } from "../../server/ledger/stores/checks.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import type { Probed } from "../../server/process/probed.ts";
import { withAnalysis } from "../analysis.ts";
import { oneLine, printLine } from "../print.ts";
import { hasAnswered, probeDatabase, probeIdentity, probeWarehouse } from "../servers.ts";

export function doctorCommand(): Command {
  return new Command("doctor")
    .description(
      "Compare ledger, events and rollups for every organization and day, and look at the inbox; in a cluster also at the servers",
    )
    .action(async () => {
      const { cluster } = readConfig();
      if (cluster !== null && !(await printServers(cluster))) return;
      await withAnalysis(async ({ ledger, served, config }, analysis) => {
        printLine(`data folder      ${config.dataDir}`);
        printLine(`server           ${served ? "running" : "not running"}`);
        await printRejectedEvents(ledger);
        const nightly = new Map((await ledger.checks.list()).map((last) => [last.organization, last]));
        let differences = 0;
        for (const organization of await ledger.organizations.list()) {
          const found = await analysis.check(organization.id);
          differences += found.length;
          await printOrganization(ledger, organization, found, nightly.get(organization.id));
        }
        if (differences > 0) process.exitCode = 1;
      });
    });
}

/** Without an answer of both servers the command does not wait for them: their findings are the result.
 * @returns whether both answered and belong together */
async function printServers(cluster: ClusterConfig): Promise<boolean> {
  const [database, warehouse] = await Promise.all([probeDatabase(cluster), probeWarehouse(cluster)]);
  printProbed("PostgreSQL", database);
  const haveAnswered = hasAnswered(database) && hasAnswered(warehouse);
  const identity = haveAnswered ? await probeIdentity(cluster) : [];
  printProbed("ClickHouse", [...warehouse, ...identity]);
  const areComparable = haveAnswered && identity.every(({ ok }) => ok);
  if (!areComparable) printLine("ledger, events and rollups were not compared");
  return areComparable;
}

function printProbed(server: string, probed: readonly Probed[]): void {
  printLine(server);
  for (const { name, ok, warns = false, words } of probed) {
    const judged = warns ? "warns" : "ok   ";
    printLine(`  ${ok ? judged : "WRONG"}  ${name}: ${oneLine(words)}`);
  }
  if (probed.some(({ ok }) => !ok)) process.exitCode = 1;
}

async function printOrganization(
  ledger: SharedLedger,
  { id, name }: Organization,
  differences: readonly string[],
  nightly: CheckResult | undefined,
): Promise<void> {
  printLine(`${name}: ${differences.length === 0 ? "ledger, events and rollups agree" : ""}`);
  for (const difference of differences) printLine(`  ${difference}`);
  const rejectedEvents = await ledger.rejectedEvents.count({ organization: id });
  if (rejectedEvents > 0) printLine(`  ${rejectedEvents} rows are among the rejected events`);
  printLine(`  last nightly check  ${nightly === undefined ? "none yet" : nightlyText(nightly)}`);
}

function nightlyText({ atMs, tookMs, differences }: CheckResult): string {
  return `${new Date(atMs).toISOString()}, ${differences} differences, ${(tookMs / 1_000).toFixed(1)} s`;
}

const shownRejectedEvents = 5;

async function printRejectedEvents(ledger: SharedLedger): Promise<void> {
  const count = await ledger.rejectedEvents.count({});
  printLine(`rejected events  ${count}${count > 0 ? " (rekindle rejected-events list, retry or drop)" : ""}`);
  for (const { atMs, reason } of await ledger.rejectedEvents.list({}, shownRejectedEvents)) {
    printLine(`  ${new Date(atMs).toISOString()}  ${oneLine(reason)}`);
  }
}
