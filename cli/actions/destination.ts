/** `rekindle destination list | test` */
import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { testMessage } from "../../server/actions/actions.ts";
import { commandLine, type Delivery, type SharedLedger } from "../../server/ledger/ledger.ts";
import type { ClusterNode } from "../../server/ledger/postgres/postgres.ts";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { addressOf } from "../people.ts";
import { instant, oneLine, printTable } from "../print.ts";

/** The command for destinations of messages. Owners add and change them in the settings. */
export function destinationCommand(): Command {
  return new Command("destination")
    .description("List destinations of messages, and send a test")
    .addCommand(list())
    .addCommand(test());
}

function list(): Command {
  return new Command("list")
    .description("List an organization's destinations")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: OfOrganization) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const destinations = await ledger.destinations.list(id);
        printTable(
          ["NAME", "KIND", "STATE", "PENDING", "HELD", "FAILING SINCE", "LAST DELIVERED"],
          destinations.map((one) => [
            oneLine(one.name),
            one.kind,
            one.state,
            String(one.pending),
            String(one.held),
            instant(one.failingSinceMs),
            instant(one.deliveredAtMs),
          ]),
        );
      }),
    );
}

function test(): Command {
  return new Command("test")
    .description("Send a test message and print the result; the exit code is 1 when it failed")
    .argument("<name>", "the destination's name")
    .requiredOption("--organization <name>", "the organization")
    .action((destination: string, { organization: name }: OfOrganization) =>
      withOrganization(name, async (installation, { id }) => {
        const { ledger } = installation;
        refuseWithoutSender(installation);
        const to = await activeDestination(ledger, id, destination, name);
        const message = testMessage(name, commandLine.by, await addressOf(installation), Date.now());
        await ledger.deliveries.add(id, to, message, Date.now());
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
  const list = `rekindle destination list --organization ${JSON.stringify(organizationName)}`;
  throw new Refusal(
    found === undefined
      ? `there is no destination ${JSON.stringify(name)}: ${list} shows them.`
      : `the destination ${JSON.stringify(name)} is ${found.state} and sends nothing: an owner starts it in the settings.`,
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
