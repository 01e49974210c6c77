/** `rekindle organization create | list | set | delete` */

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
import { organizationNamed, withInstallation, withOrganization } from "../installation.ts";
import { wholeNumber } from "../numbers.ts";
import { printable } from "../output.ts";
import { addOwner, readEmail } from "../people.ts";
import { instant, printTable } from "../print.ts";

export function organizationCommand(time: Time): Command {
  return new Command("organization")
    .description("Create, list, change and delete organizations")
    .addCommand(create(time))
    .addCommand(list())
    .addCommand(set(time))
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

interface Changes {
  readonly name?: string;
  readonly timezone?: string;
  readonly rateLimit?: number;
  readonly itemRateLimit?: number;
  readonly keepEvents?: number | "forever";
}

function set(time: Time): Command {
  const command = new Command("set");
  return command
    .description("Change an organization")
    .argument("<name>", "its current name")
    .option("--name <name>", "a new name", readName)
    .option("--timezone <zone>", "IANA timezone of its days; earlier days are computed again", readTimezone)
    .option("--rate-limit <number>", "requests a second that each of its tokens may send", readRate)
    .option("--item-rate-limit <number>", "items a second in batches; else ten times the requests", readRate)
    .option(
      "--keep-events <days>",
      "days after which raw events are deleted, while figures stay; or: forever",
      readKeepEvents,
    )
    .action((name: string, changes: Changes) => {
      if (Object.keys(changes).length === 0) {
        command.error(
          "error: nothing to change: give --name, --timezone, --rate-limit, --item-rate-limit or --keep-events",
        );
      }
      const { rateLimit, itemRateLimit, keepEvents, ...change } = changes;
      return withOrganization(name, async ({ ledger }, { id }) => {
        const wanted = {
          ...change,
          ...(rateLimit !== undefined && { requestsPerSecond: rateLimit }),
          ...(itemRateLimit !== undefined && { itemsPerSecondSet: itemRateLimit }),
          ...(keepEvents !== undefined && { keepEventsDays: keepEvents === "forever" ? null : keepEvents }),
        };
        await ledger.organizations.set(id, wanted, commandLine, time.nowMs());
        process.stderr.write(`changed ${printable(changes.name ?? name)}\n`);
      });
    });
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

const readRate = wholeNumber(1, 1_000_000);

function readKeepEvents(text: string): number | "forever" {
  if (text === "forever") return text;
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= 36_500) return days;
  throw new InvalidArgumentError("Give a whole number of days from 1 to 36500, or forever.");
}
