/** The `rekindle` command: every command on one screen. */
import { Command } from "commander";
import { ApiError, Refusal } from "../contract/refusal.ts";
import { ConfigError } from "../server/config.ts";
import { CallFailed, Unreachable } from "../server/process/control.ts";
import { systemTime, type Time } from "../server/process/time.ts";
import { rekindleVersion } from "../server/process/version.ts";
import { WarehouseError } from "../server/warehouse/engine/warehouse.ts";

/** Only the command that was named is loaded: all of them take twice as long. */
const commands: Readonly<Record<string, (time: Time) => Promise<Command>>> = {
  serve: async () => (await import("./commands/serve.ts")).serveCommand(),
  organization: async (time) => (await import("./commands/organization.ts")).organizationCommand(time),
  member: async (time) => (await import("./commands/member.ts")).memberCommand(time),
  destination: async (time) => (await import("./actions/destination.ts")).destinationCommand(time),
  delivery: async () => (await import("./actions/delivery.ts")).deliveryCommand(),
  segment: async (time) => (await import("./actions/segment.ts")).segmentCommand(time),
  "alert-rule": async () => (await import("./actions/alert-rule.ts")).alertRuleCommand(),
  alert: async () => (await import("./actions/alert.ts")).alertCommand(),
  digest: async () => (await import("./actions/digest.ts")).digestCommand(),
  task: async () => (await import("./actions/task.ts")).taskCommand(),
  note: async () => (await import("./actions/work.ts")).noteCommand(),
  contact: async () => (await import("./actions/work.ts")).contactCommand(),
  owner: async () => (await import("./actions/work.ts")).ownerCommand(),
  "churn-reason": async () => (await import("./actions/work.ts")).churnReasonCommand(),
  "call-list": async () => (await import("./actions/call-list.ts")).callListCommand(),
  "win-back": async () => (await import("./actions/win-back.ts")).winBackCommand(),
  "audit-log": async () => (await import("./actions/audit-log.ts")).auditLogCommand(),
  token: async (time) => (await import("./commands/credential.ts")).tokenCommand(time),
  key: async (time) => (await import("./commands/credential.ts")).keyCommand(time),
  settings: async (time) => (await import("./commands/settings.ts")).settingsCommand(time),
  import: async () => (await import("./commands/import.ts")).importCommand(),
  demo: async (time) => (await import("./commands/demo.ts")).demoCommand(time),
  revenue: async () => (await import("./figures/revenue.ts")).revenueCommand(),
  export: async () => (await import("./commands/export.ts")).exportCommand(),
  backtest: async () => (await import("./commands/backtest.ts")).backtestCommand(),
  score: async () => (await import("./commands/score.ts")).scoreCommand(),
  erase: async () => (await import("./commands/erase.ts")).eraseCommand(),
  rebuild: async () => (await import("./commands/rebuild.ts")).rebuildCommand(),
  backup: async () => (await import("./commands/backup.ts")).backupCommand(),
  restore: async () => (await import("./commands/restore.ts")).restoreCommand(),
  "migrate-to": async () => (await import("./commands/migrate-to.ts")).migrateToCommand(),
  warnings: async () => (await import("./commands/warnings.ts")).warningsCommand(),
  "rejected-events": async (time) =>
    (await import("./commands/rejected-events.ts")).rejectedEventsCommand(time),
  exclude: async (time) => (await import("./commands/exclude.ts")).excludeCommand(time),
  outage: async (time) => (await import("./commands/outage.ts")).outageCommand(time),
  doctor: async () => (await import("./commands/doctor.ts")).doctorCommand(),
};

/** The command with this subcommand, or with all when there is no such one.
 * @param time of what commands write down themselves: of the demonstration, of tokens, invitations and
 * versions */
export async function rekindleProgram(name: string | undefined, time: Time = systemTime): Promise<Command> {
  const program = new Command("rekindle")
    .description("Keeps companies from losing their customers.")
    .version(rekindleVersion())
    .showHelpAfterError("(rekindle --help lists the commands)");
  const all = Object.entries(commands);
  const named = all.filter(([command]) => command === name);
  for (const [, load] of named.length > 0 ? named : all) program.addCommand(await load(time));
  return program;
}

/** Whether an error's message alone explains the fault and the remedy. */
export function isForPeople(error: unknown): error is Error {
  return [Refusal, ApiError, ConfigError, CallFailed, Unreachable, WarehouseError].some(
    (kind) => error instanceof kind,
  );
}
