/** `rekindle outage add | list | remove` */

import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { Time } from "../../server/process/time.ts";
import { withOrganization } from "../installation.ts";
import { dateIn, readId } from "../numbers.ts";
import { instant, printTable } from "../print.ts";

const days = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The command for days on which data collection had stopped. */
export function outageCommand(time: Time): Command {
  return new Command("outage")
    .description("Declare days on which data collection had stopped: scores leave them out")
    .addCommand(add(time))
    .addCommand(list())
    .addCommand(remove(time));
}

interface Days {
  readonly organization: string;
  readonly from: number;
  readonly to: number;
}

function add(time: Time): Command {
  return new Command("add")
    .description("Declare an outage; scores of the days after it are computed again")
    .requiredOption("--organization <name>", "the organization")
    .requiredOption("--from <day>", "the first day without data, such as 2026-11-03", dateIn(days))
    .requiredOption("--to <day>", "the last day without data", dateIn(days))
    .action(({ organization: name, from, to }: Days) =>
      withOrganization(name, async ({ ledger }, { id, timezone }) => {
        if (to > new Zone(timezone).dayOf(time.nowMs())) {
          throw new Refusal(
            `${formatDay(to)} has not come yet in ${timezone}: an outage ends today at the latest.`,
          );
        }
        const added = await ledger.outages.add(id, { fromDay: from, toDay: to }, commandLine, time.nowMs());
        process.stderr.write(
          `outage ${added.id}: ${formatDay(added.fromDay)} to ${formatDay(added.toDay)}\n`,
        );
      }),
    );
}

function list(): Command {
  return new Command("list")
    .description("List the declared outages of an organization")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: { organization: string }) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const outages = await ledger.outages.list(id);
        printTable(
          ["ID", "CREATED", "FROM", "TO"],
          outages.map((outage) => [
            String(outage.id),
            instant(outage.createdAtMs),
            formatDay(outage.fromDay),
            formatDay(outage.toDay),
          ]),
        );
      }),
    );
}

function remove(time: Time): Command {
  return new Command("remove")
    .description("Remove a declared outage; its days count again")
    .argument("<id>", "the outage's id, as outage list shows it", readId)
    .requiredOption("--organization <name>", "the organization")
    .action((outage: number, { organization: name }: { organization: string }) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        await ledger.outages.remove(id, outage, commandLine, time.nowMs());
        process.stderr.write(`removed outage ${outage}\n`);
      }),
    );
}
