/** `rekindle destination list | add | change | pause | resume | delete | secret | held | test` */

import { readFile } from "node:fs/promises";
import { Command, Option } from "commander";
import type { RouteAnswer, RouteBody } from "../../contract/api/routes.ts";
import {
  type DestinationKind,
  destinationKinds,
  noticeTypes,
} from "../../contract/destinations/destinations.ts";
import { Refusal } from "../../contract/refusal.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import type { Delivery } from "../../server/ledger/ports/actions/deliveries.ts";
import type { ClusterNode } from "../../server/ledger/postgres/cluster/node.ts";
import type { Time } from "../../server/process/time.ts";
import { testMessage } from "../../server/sending/test-message.ts";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { addressOf } from "../people.ts";
import { oneLine, printLine, printTable } from "../print.ts";
import type { Api } from "./api.ts";
import { apiCommand, group } from "./api-command.ts";

type Destination = RouteAnswer<"PATCH /api/destinations/:id">;

/** The command for destinations of messages. */
export function destinationCommand(time: Time): Command {
  return group("destination", "Add, change and delete destinations of messages, and send a test", [
    list(),
    add(),
    change(),
    changed("pause <name>", "Pause a destination: its messages are held", { state: "paused" }),
    changed("resume <name>", "Start a paused or disabled destination", { state: "active" }),
    remove(),
    secret(),
    held(),
    test(time),
  ]);
}

function list(): Command {
  return apiCommand({
    words: "list",
    description: "List an organization's destinations",
    run: ({ ask }) => ask("GET /api/destinations"),
    print: ({ destinations }) => printDestinations(destinations),
  });
}

function printDestinations(destinations: readonly Destination[]): void {
  printTable(
    ["NAME", "KIND", "STATE", "PENDING", "HELD", "FAILING SINCE", "LAST DELIVERED", "ID", "NOTICES"],
    destinations.map((one) => [
      oneLine(one.name),
      one.kind,
      one.state,
      String(one.pending),
      String(one.held),
      one.failingSince ?? "-",
      one.lastDeliveredAt ?? "-",
      String(one.id),
      one.notices.join(",") || "-",
    ]),
  );
}

/** Fields that adding and changing share. */
interface Fields {
  readonly address?: string;
  readonly addressFile?: string;
  readonly notice?: (typeof noticeTypes)[number][];
  readonly sendEmails?: boolean;
}

const fieldOptions = [
  new Option("--address <address>", "an https:// address, or an e-mail address").conflicts("addressFile"),
  new Option(
    "--address-file <file>",
    "a file with the address, - for standard input: so that a secret is in no list of processes",
  ),
  new Option("--notice <type...>", "messages about the organization that it gets").choices(noticeTypes),
  new Option("--send-emails", "messages of alerts have the e-mail addresses of their users"),
];

async function fieldsOf({ address, addressFile, notice, sendEmails }: Fields) {
  const read = addressFile === undefined ? address : await addressIn(addressFile);
  return {
    ...(read !== undefined && { address: read }),
    ...(notice !== undefined && { notices: notice }),
    ...(sendEmails !== undefined && { sendsEmails: sendEmails }),
  };
}

async function addressIn(file: string): Promise<string> {
  try {
    if (file === "-" && process.stdin.isTTY) process.stderr.write("The address, then Ctrl-D:\n");
    return (file === "-" ? await Bun.stdin.text() : await readFile(file, "utf8")).trim();
  } catch (error) {
    throw new Refusal(`--address-file cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function add(): Command {
  return apiCommand<Fields & { readonly kind: DestinationKind }, RouteAnswer<"POST /api/destinations">>({
    words: "add <name>",
    description:
      "Add a destination. The secret of a webhook is printed, this once. The recipient of e-mail gets a link and has to agree",
    options: [
      new Option("--kind <kind>", "how messages are sent").choices(destinationKinds).makeOptionMandatory(),
      ...fieldOptions,
    ],
    run: async ({ ask }, [name = ""], options) => {
      const { address, ...fields } = await fieldsOf(options);
      if (address === undefined) throw new Refusal("give --address or --address-file.");
      return ask("POST /api/destinations", { body: { kind: options.kind, name, address, ...fields } });
    },
    print: ({ destination, secret: shown }) => {
      process.stderr.write(`destination ${oneLine(destination.name)} is ${destination.state}\n`);
      if (shown !== null) printLine(shown);
    },
  });
}

function change(): Command {
  return apiCommand<Fields & { readonly name?: string; readonly notices: boolean }, Destination>({
    words: "change <name>",
    description: "Change a destination",
    options: [
      new Option("--name <name>", "another name"),
      ...fieldOptions,
      new Option("--no-notices", "it gets alerts of rules alone").conflicts("notice"),
      new Option("--no-send-emails", "messages have no e-mail addresses of users"),
    ],
    run: async (api, [name = ""], { name: renamed, notices, ...options }) => {
      const body = {
        ...(renamed !== undefined && { name: renamed }),
        ...(await fieldsOf(options)),
        ...(notices === false && { notices: [] }),
      };
      return patch(api, name, body);
    },
    print: (destination) => printDestinations([destination]),
  });
}

function changed(words: string, description: string, body: { readonly state: "active" | "paused" }): Command {
  return apiCommand({
    words,
    description,
    run: (api, [name = ""]) => patch(api, name, body),
    print: (destination) => printDestinations([destination]),
  });
}

async function patch(api: Api, name: string, body: RouteBody<"PATCH /api/destinations/:id">) {
  const { id } = await destinationNamed(api, name);
  return api.ask("PATCH /api/destinations/:id", { path: { id }, body });
}

function remove(): Command {
  return apiCommand({
    words: "delete <name>",
    description: "Delete a destination with the log of its deliveries",
    run: async (api, [name = ""]) => {
      const { id } = await destinationNamed(api, name);
      return api.ask("DELETE /api/destinations/:id", { path: { id } });
    },
  });
}

function secret(): Command {
  return apiCommand({
    words: "secret <name>",
    description: "Make a new secret of a webhook and print it, this once; messages have both signatures",
    run: async (api, [name = ""]) => {
      const { id } = await destinationNamed(api, name);
      return api.ask("POST /api/destinations/:id/secret", { path: { id } });
    },
    print: ({ secret: shown }) => printLine(shown ?? ""),
  });
}

function held(): Command {
  return apiCommand({
    words: "held <name> <send|drop>",
    description: "Send or drop the messages that are held, and print their number",
    run: async (api, [name = "", what = ""]) => {
      if (what !== "send" && what !== "drop") throw new Refusal("say send or drop after the name.");
      const { id } = await destinationNamed(api, name);
      return api.ask("POST /api/destinations/:id/held", { path: { id }, body: { held: what } });
    },
    print: ({ messages }) => printLine(String(messages)),
  });
}

/** The destination of this name. @throws Refusal when there is none */
export async function destinationNamed(
  { ask, organization }: Pick<Api, "ask" | "organization">,
  name: string,
): Promise<Destination> {
  const { destinations } = await ask("GET /api/destinations");
  const found = destinations.find((one) => one.name === name);
  if (found === undefined) throw noDestination(name, organization.name);
  return found;
}

function noDestination(name: string, organization: string): Refusal {
  const shows = `rekindle destination list --organization ${JSON.stringify(organization)}`;
  return new Refusal(`there is no destination ${JSON.stringify(name)}: ${shows} shows them.`);
}

function test(time: Time): Command {
  return new Command("test")
    .description("Send a test message and print the result; the exit code is 1 when it failed")
    .argument("<name>", "the destination's name")
    .requiredOption("--organization <name>", "the organization")
    .action((destination: string, { organization: name }: OfOrganization) =>
      withOrganization(name, async (installation, { id }) => {
        const { ledger } = installation;
        refuseWithoutSender(installation);
        const to = await activeDestination(ledger, id, destination, name);
        const message = testMessage(name, commandLine.by, await addressOf(installation), time.nowMs());
        await ledger.deliveries.add(id, to, message, time.nowMs());
        const { state, status, said } = await firstAttempt(ledger, id, to, message.messageId);
        const answer = [status, oneLine(said ?? "")].filter((part) => part !== null && part !== "").join(" ");
        if (state === "delivered") {
          process.stdout.write(`delivered: ${answer}\n`);
        } else {
          process.stdout.write(`failed: ${answer}\n`);
          process.exitCode = 1;
        }
      }),
    );
}

/** A command sends nothing by itself: a copy of an installation must not send by accident.
 * @throws Refusal when no service runs on the data folder, or no intake node in the cluster */
export function refuseWithoutSender({
  served,
  node,
}: {
  readonly served: boolean;
  readonly node?: Pick<ClusterNode, "live">;
}): void {
  if (node === undefined && !served) {
    throw new Refusal("the service does not run, and only it sends messages: start it first.");
  }
  if (node !== undefined && !node.live.some(({ role }) => role === "intake")) {
    throw new Refusal("no intake node runs, and only they send messages: start one first.");
  }
}

async function activeDestination(
  ledger: SharedLedger,
  organization: number,
  name: string,
  organizationName: string,
): Promise<number> {
  const found = (await ledger.destinations.list(organization)).find((one) => one.name === name);
  if (found?.state === "active") return found.id;
  if (found === undefined) throw noDestination(name, organizationName);
  const remedy =
    found.state === "unconfirmed"
      ? "its recipient has to agree first"
      : "rekindle destination resume starts it";
  throw new Refusal(
    `the destination ${JSON.stringify(name)} is ${found.state} and sends nothing: ${remedy}.`,
  );
}

/** Longer than the service may take: it claims within a second, and waits 15 s for an answer. */
const patienceMs = 30_000;

async function firstAttempt(
  ledger: SharedLedger,
  organization: number,
  destination: number,
  messageId: string,
): Promise<Delivery> {
  const deadlineMs = performance.now() + patienceMs;
  while (performance.now() < deadlineMs) {
    const [found] = await ledger.deliveries.list(organization, { destination, messageId, limit: 1 });
    if (found !== undefined && found.attempts > 0) return found;
    await Bun.sleep(200);
  }
  throw new Refusal(
    `the message was not sent within ${patienceMs / 1_000} s: others wait before it, or the destination was paused.`,
  );
}
