/** `rekindle delivery list | again` */
import { type Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { type DeliveryState, deliveryStates } from "../../contract/destinations/destinations.ts";
import { wholeNumber } from "../numbers.ts";
import { oneLine, printTable } from "../print.ts";
import { apiCommand, group } from "./api-command.ts";
import { destinationNamed } from "./destination.ts";

/** The command for deliveries of messages. */
export function deliveryCommand(): Command {
  return group("delivery", "List messages that were sent or wait, and send one again", [list(), again()]);
}

interface ListOptions {
  readonly destination?: string;
  readonly state?: DeliveryState;
  readonly limit: number;
  readonly before?: number;
}

function list(): Command {
  return apiCommand<ListOptions, RouteAnswer<"GET /api/deliveries">>({
    words: "list",
    description: "List the deliveries of 30 days, the newest first",
    options: [
      new Option("--destination <name>", "only those to this destination"),
      new Option("--state <state>", "only those in this state").choices(deliveryStates),
      new Option("--limit <number>", "at most so many").argParser(wholeNumber(1, 200)).default(50),
      new Option("--before <id>", "only those before this one, to read on").argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    ],
    run: async (api, _, { destination, state, limit, before }) => {
      const to = destination === undefined ? undefined : (await destinationNamed(api, destination)).id;
      return api.ask("GET /api/deliveries", { query: { destination: to, state, limit, before } });
    },
    print: ({ deliveries }) =>
      printTable(
        ["ID", "CREATED", "TO", "TYPE", "STATE", "ATTEMPTS", "LAST ATTEMPT", "ANSWER"],
        deliveries.map((one) => [
          String(one.id),
          one.createdAt,
          String(one.destination),
          one.type,
          one.state,
          String(one.attempts),
          one.attemptedAt ?? "-",
          oneLine([one.status, one.said].filter((part) => part !== null && part !== "").join(" ")) || "-",
        ]),
      ),
  });
}

function again(): Command {
  return apiCommand({
    words: "again <id>",
    description: "Send a message again that failed, was delivered or waits, with the same id",
    run: ({ ask }, [id = ""]) => ask("POST /api/deliveries/:id/again", { path: { id } }),
  });
}
