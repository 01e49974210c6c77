/** The `rekindle` command: commands written by hand, and those of the JSON API. */
import { Command } from "commander";
import { ApiError, Refusal } from "../contract/refusal.ts";
import { ConfigError } from "../server/config.ts";
import { CallFailed, Unreachable } from "../server/process/control.ts";
import { systemTime, type Time } from "../server/process/time.ts";
import { rekindleVersion } from "../server/process/version.ts";
import { WarehouseError } from "../server/warehouse/engine/warehouse.ts";
import { operations } from "./api/operations.ts";
import { currentWords } from "./older-commands.ts";

/** Commands written by hand. To some of them the commands of the API are added. */
const byHand: Readonly<Record<string, (time: Time) => Promise<Command>>> = {
  api: async () => (await import("./api/api-command.ts")).apiCommand(),
  backtest: async () => (await import("./commands/backtest.ts")).backtestCommand(),
  backup: async () => (await import("./commands/backup.ts")).backupCommand(),
  demo: async (time) => (await import("./commands/demo.ts")).demoCommand(time),
  destination: async () => (await import("./commands/destination.ts")).destinationCommand(),
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand(),
  export: async () => (await import("./commands/export.ts")).exportCommand(),
  import: async () => (await import("./commands/import.ts")).importCommand(),
  key: async (time) => (await import("./commands/credential.ts")).keyCommand(time),
  mcp: async () => (await import("./commands/mcp.ts")).mcpCommand(),
  member: async (time) => (await import("./commands/member.ts")).memberCommand(time),
  "migrate-to": async () => (await import("./commands/migrate-to.ts")).migrateToCommand(),
  organization: async (time) => (await import("./commands/organization.ts")).organizationCommand(time),
  rebuild: async () => (await import("./commands/rebuild.ts")).rebuildCommand(),
  restore: async () => (await import("./commands/restore.ts")).restoreCommand(),
  score: async () => (await import("./commands/score.ts")).scoreCommand(),
  segment: async () => (await import("./commands/segment.ts")).segmentCommand(),
  serve: async () => (await import("./commands/serve.ts")).serveCommand(),
  token: async (time) => (await import("./commands/credential.ts")).tokenCommand(time),
};

/** Topics by what they are about, as `rekindle --help` has them. All others are figures. */
const groups: Readonly<Record<string, string>> = {
  "Run:": "serve doctor score rebuild backup restore migrate-to backtest mcp",
  "Data:":
    "import export demo source webhook stripe warnings rejected-events health-check freshness exclusion outage erasure",
  "Customers:": "user account segment call-list win-back alert-rule alert task note digest view",
  "Settings:":
    "organization member invitation token key settings departures destination delivery audit-log api",
};

/** The command with the topic that is named first, or with all when there is no such one. Only that topic is
 * loaded: all of them take twice as long.
 * @param given the words after `rekindle`
 * @param time of what commands write down themselves: of the demonstration, of tokens, invitations and
 * versions
 * @returns the words to run, in which older forms are new ones @throws Refusal */
export async function rekindleProgram(
  given: readonly string[],
  time: Time = systemTime,
): Promise<{ readonly program: Command; readonly words: readonly string[] }> {
  const { words, warning } = await currentWords(given);
  if (warning !== undefined) process.stderr.write(`rekindle: ${warning}\n`);
  const program = new Command("rekindle")
    .description("Keeps companies from losing their customers.")
    .version(rekindleVersion())
    // A version of settings is an option of theirs.
    .enablePositionalOptions()
    .helpCommand(false)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError("(rekindle --help lists the commands)");
  const inGroups = Object.values(groups).flatMap((topics) => topics.split(" "));
  const all = new Set([...inGroups, ...operations.map(({ topic }) => topic)]);
  const [name = ""] = words;
  for (const topic of all.has(name) ? [name] : all) program.addCommand(await topicCommand(topic, time));
  return { program, words };
}

/** A command written by hand, the commands of the API on this topic, or both. */
async function topicCommand(topic: string, time: Time): Promise<Command> {
  const own = operations.filter((one) => one.topic === topic);
  const about = own.find(({ verb }) => verb === "list") ?? own[0];
  const made = () => new Command(topic).description(about?.route.summary ?? "");
  const command = (await byHand[topic]?.(time)) ?? made();
  const [group = "Figures:"] = Object.entries(groups).find(([, all]) => all.split(" ").includes(topic)) ?? [];
  command.helpGroup(group).helpCommand(false).summary(shortened(command.description()));
  if (own.length === 0) return command;
  const { operationCommand } = await import("./api/operation-command.ts");
  for (const one of own) command.addCommand(operationCommand(one), { isDefault: one.isDefault });
  return command;
}

const summaryCharacters = 58;

/** The beginning of a description, for one line of `rekindle --help`. */
function shortened(description: string): string {
  const [sentence = ""] = description.split(/[:;.](?: |$)/);
  if (sentence.length <= summaryCharacters) return sentence;
  return `${sentence.slice(0, sentence.lastIndexOf(" ", summaryCharacters)).replace(/,$/, "")} …`;
}

/** Whether an error's message alone explains the fault and the remedy. */
export function isForPeople(error: unknown): error is Error {
  return [Refusal, ApiError, ConfigError, CallFailed, Unreachable, WarehouseError].some(
    (kind) => error instanceof kind,
  );
}
