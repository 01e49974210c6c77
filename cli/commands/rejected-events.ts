/** `rekindle rejected-events list | retry | drop` */

import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import type { Time } from "../../server/process/time.ts";
import { organizationNamed, withInstallation } from "../installation.ts";
import { readId, readLimit } from "../numbers.ts";
import { instant, oneLine, printTable } from "../print.ts";

/** The command for events that the warehouse rejected. */
export function rejectedEventsCommand(time: Time): Command {
  return new Command("rejected-events")
    .description("List events that the warehouse rejected, send them again, or drop them")
    .addCommand(list())
    .addCommand(withRows("retry", "Send rejected events to the warehouse again", "sent again", time))
    .addCommand(withRows("drop", "Delete rejected events for good", "dropped", time));
}

function list(): Command {
  return new Command("list")
    .description("List rejected events, the newest first")
    .option("--organization <name>", "only this organization's; by default, all")
    .option("--limit <number>", "at most this many", readLimit, 100)
    .action(({ organization: name, limit }: { organization?: string; limit: number }) =>
      withInstallation(async ({ ledger }) => {
        const organization = await idOf(ledger, name);
        const names = new Map((await ledger.organizations.list()).map((one) => [one.id, one.name]));
        const rejectedRows = await ledger.rejectedEvents.list({ organization }, limit);
        printTable(
          ["ID", "AT", "ORGANIZATION", "TABLE", "REASON", "ROW"],
          rejectedRows.map((rejectedRow) => [
            String(rejectedRow.id),
            instant(rejectedRow.atMs),
            names.get(rejectedRow.organization) ?? "-",
            rejectedRow.table,
            oneLine(rejectedRow.reason),
            oneLine(rejectedRow.row),
          ]),
        );
      }),
    );
}

interface RowsOptions {
  readonly organization?: string;
  readonly all?: boolean;
}

function withRows(name: "retry" | "drop", description: string, done: string, time: Time): Command {
  return new Command(name)
    .description(description)
    .argument("[id...]", "ids, as rejected-events list shows them", collectIds, [])
    .option("--all", "all of them")
    .option("--organization <name>", "only this one's")
    .action((ids: number[], { organization: organizationName, all = false }: RowsOptions) => {
      if (all === ids.length > 0)
        throw new Refusal("no rejected events are given: give their ids, or --all.");
      return withInstallation(async ({ ledger }) => {
        const organization = await idOf(ledger, organizationName);
        const selection = { organization, ids: all ? undefined : ids };
        const rows = await ledger.rejectedEvents[name](selection, commandLine, time.nowMs());
        process.stderr.write(`${rows} rows ${done}\n`);
      });
    });
}

function collectIds(text: string, before: readonly number[]): readonly number[] {
  return [...before, readId(text)];
}

async function idOf(ledger: SharedLedger, name: string | undefined): Promise<number | undefined> {
  return name === undefined ? undefined : (await organizationNamed(ledger, name)).id;
}
