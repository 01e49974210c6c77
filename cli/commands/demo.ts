/** `rekindle demo` */
import { Command, InvalidArgumentError } from "commander";
import type { Time } from "../../server/process/time.ts";
import { demonstrationSize } from "../../simulation/simulation.ts";
import { loadDemo } from "../demo-load.ts";
import { withInstallation } from "../installation.ts";
import { wholeNumber } from "../numbers.ts";
import { readEmail } from "../people.ts";

/** The demonstration. @param time its companies' history ends now */
export function demoCommand(time: Time): Command {
  return new Command("demo")
    .description(
      "Load invented companies with their users, plans, rhythms and departures through the API of the running server",
    )
    .option("--organization <name>", "the organization; it is created if needed", "Demo")
    .option("--owner <email>", "its owner: at once with a verified e-mail, else by a link", readEmail)
    .option(
      "--users <number>",
      "how many users, 10 to 100000",
      wholeNumber(10, 100_000),
      demonstrationSize.users,
    )
    .option(
      "--weeks <number>",
      "how many weeks of events, up to now",
      wholeNumber(1, 104),
      demonstrationSize.weeks,
    )
    .option("--seed <number>", "the same number gives the same people", wholeNumber(0, 2 ** 31 - 1), 1)
    .option("--url <url>", "the server's address, if it differs from where it listens", readUrl)
    .option("--no-team", "without segments, alert rules, alerts, tasks, notes, contacts and pulses")
    .option("--force", "even if the organization has users; loading it twice on one day stores nothing twice")
    .action((options) => withInstallation((installation) => loadDemo(installation, options, time.nowMs)));
}

function readUrl(text: string): string {
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text.replace(/(?<!\/)\/+$/, "");
  throw new InvalidArgumentError("Give an address, such as http://127.0.0.1:8080.");
}
