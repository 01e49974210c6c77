/** `rekindle organization create | list | delete`; `show` and `change` are those of the API. */

import { Command, InvalidArgumentError } from "commander";
import { isName } from "../../contract/names.ts";
import { Refusal } from "../../contract/refusal.ts";
import { runningRebuild } from "../../server/between/remote/remote-analysis.ts";
import { zoneNamed } from "../../server/calendar/zone.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import { itemsPerSecond } from "../../server/ledger/stores/organization-rows.ts";
import type { Peer } from "../../server/process/control.ts";
import type { Time } from "../../server/process/time.ts";
import { withAnalysis } from "../analysis.ts";
import { organizationNamed, withInstallation } from "../installation.ts";
import { printable } from "../output.ts";
import { addOwner, readEmail } from "../people.ts";
import { instant, printTable } from "../print.ts";

export function organizationCommand(time: Time): Command {
  return new Command("organization")
    .description("Create, list, change and delete organizations")
    .addCommand(create(time))
    .addCommand(list())
    .addCommand(remove());
}

function create(time: Time): Command {
  return new Command("create")
    .description("Create an organization")
    .argument("<name>", "its name", readName)
    .option("--timezone <zone>", "IANA timezone of its days", readTimezone, "UTC")
    .option("--owner <email>", "its owner: at once with a verified e-mail, else by a link", readEmail)
    .action((name: string, { timezone, owner: email }: { timezone: string; owner?: string }) =>
      withInstallation(
        async (installation) => {
          const { ledger } = installation;
          const wanted = { name, timezone, nowMs: time.nowMs() };
          const created = await ledger.organizations.create(wanted, commandLine);
          process.stderr.write(
            `created ${name}; its first token: rekindle token create --organization ${JSON.stringify(name)}\n`,
          );
          await addOwner(installation, created, email, wanted.nowMs);
        },
        { mayBegin: true },
      ),
    );
}

function list(): Command {
  return new Command("list").description("List organizations").action(() =>
    withInstallation(async ({ ledger, analysis }) => {
      const organizations = await ledger.organizations.list();
      const days = await daysOf(ledger, analysis);
      printTable(
        ["ID", "NAME", "TIMEZONE", "REQUESTS/S", "CREATED", "ITEMS/S", "KEEP EVENTS", "DAYS"],
        organizations.map((each) => [
          String(each.id),
          each.name,
          each.timezone,
          String(each.requestsPerSecond),
          instant(each.createdAtMs),
          String(itemsPerSecond(each)),
          each.keepEventsDays === null ? "forever" : `${each.keepEventsDays} days`,
          days.get(each.id) ?? "up to date",
        ]),
      );
    }),
  );
}

/** How far the pending rebuilds of days are, by organization, after changes of timezone. @param analysis that
 * runs */
async function daysOf(ledger: SharedLedger, analysis: Peer | undefined): Promise<Map<number, string>> {
  const days = new Map<number, string>();
  for (const id of await ledger.rebuildsPending()) days.set(id, "to be rebuilt");
  const running = analysis === undefined ? undefined : await runningRebuild(analysis);
  if (running) {
    const { organization, progress, rowsDone, rows, secondsLeft } = running;
    const left = secondsLeft === null ? "" : `, ${secondsLeft} s left`;
    days.set(
      organization,
      `rebuilding, ${Math.floor(progress * 100)} % (${rowsDone} of ${rows} rows${left})`,
    );
  }
  return days;
}

function remove(): Command {
  const command = new Command("delete");
  return command
    .description("Delete an organization with all its data; this cannot be undone")
    .argument("<name>", "its name")
    .requiredOption("--confirm <name>", "its name again")
    .action((name: string, { confirm }: { confirm: string }) => {
      if (confirm !== name) command.error("error: --confirm is not the organization's name");
      return withAnalysis(async ({ ledger }, analysis) => {
        const { id } = await organizationNamed(ledger, name);
        if (!(await analysis.deleteOrganization(id))) {
          throw new Refusal("There is no such organization, or not any more.");
        }
        process.stderr.write(`deleted ${printable(name)}, organization ${id}: nothing of it is left\n`);
      });
    });
}

function readName(text: string): string {
  const name = text.trim();
  if (!isName(name) || name.length > 200) {
    throw new InvalidArgumentError("Give 1 to 200 characters and no control character.");
  }
  return name;
}

/** The zone's name in its usual spelling. */
function readTimezone(text: string): string {
  const zone = zoneNamed(text);
  if (zone !== undefined) return zone;
  throw new InvalidArgumentError("Give an IANA timezone, such as Europe/Paris.");
}
