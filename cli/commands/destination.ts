/** `rekindle destination test`; the other commands of destinations are those of the API. */
import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import type { ClusterNode } from "../../server/ledger/postgres/node.ts";
import { type Api, withApi } from "../api/ask.ts";
import { idNamed } from "../api/names.ts";
import { oneLine } from "../print.ts";

interface Options {
  readonly organization?: string;
}

/** The topic of destinations. */
export function destinationCommand(): Command {
  return new Command("destination")
    .description("Destinations of messages: webhooks, Slack channels and e-mail addresses")
    .addCommand(test());
}

function test(): Command {
  return new Command("test")
    .description("Send a test message and print the result; the exit code is 1 when it failed")
    .argument("<id|name>")
    .option("--organization <name>", "the organization; needed where there are several")
    .action((name: string, { organization }: Options) =>
      withApi(organization, async (api) => {
        refuseWithoutSender(api.installation);
        const id = await idNamed(api, "destinations", name);
        await refuseInactive(api, id);
        const sent = await api.ask("POST /api/destinations/:id/test", { path: { id } });
        const { state, status, said } = await firstAttempt(api, id, sent.id);
        const answer = [status, said].filter((part) => part !== null && part !== "").join(" ");
        process.stdout.write(`${state === "delivered" ? "delivered" : "failed"}: ${oneLine(answer)}\n`);
        if (state !== "delivered") process.exitCode = 1;
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

/** @throws Refusal for a destination that sends nothing now */
async function refuseInactive({ ask }: Api, id: number | string): Promise<void> {
  const { destinations } = await ask("GET /api/destinations");
  const found = destinations.find((destination) => destination.id === id);
  if (found === undefined || found.state === "active") return;
  const remedy =
    found.state === "unconfirmed"
      ? "its recipient has to agree first"
      : "rekindle destination change --state active starts it";
  throw new Refusal(
    `the destination ${JSON.stringify(found.name)} is ${found.state} and sends nothing: ${remedy}.`,
  );
}

/** Longer than the service may take: it claims within a second, and waits 15 s for an answer. */
const patienceMs = 30_000;

async function firstAttempt({ ask }: Api, destination: number | string, id: number) {
  const deadlineMs = performance.now() + patienceMs;
  while (performance.now() < deadlineMs) {
    const { deliveries } = await ask("GET /api/deliveries", { query: { destination } });
    const found = deliveries.find((delivery) => delivery.id === id);
    if (found !== undefined && found.attempts > 0) return found;
    await Bun.sleep(200);
  }
  throw new Refusal(
    `the message was not sent within ${patienceMs / 1_000} s: others wait before it, or the destination was paused.`,
  );
}
