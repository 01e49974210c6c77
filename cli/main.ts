/** The `rekindle` command: every command on one screen. */
import { Command } from "commander";
import { ConfigError } from "../server/config.ts";
import { Refusal } from "../server/ledger/ledger.ts";
import { CallFailed, Unreachable } from "../server/process/control.ts";
import { rekindleVersion } from "../server/process/version.ts";
import { WarehouseError } from "../server/warehouse/warehouse.ts";
import { backtestCommand } from "./commands/backtest.ts";
import { backupCommand } from "./commands/backup.ts";
import { keyCommand, tokenCommand } from "./commands/credential.ts";
import { deadLettersCommand } from "./commands/dead-letters.ts";
import { demoCommand } from "./commands/demo.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { eraseCommand } from "./commands/erase.ts";
import { excludeCommand } from "./commands/exclude.ts";
import { exportCommand } from "./commands/export.ts";
import { importCommand } from "./commands/import.ts";
import { memberCommand } from "./commands/member.ts";
import { organizationCommand } from "./commands/organization.ts";
import { rebuildCommand } from "./commands/rebuild.ts";
import { restoreCommand } from "./commands/restore.ts";
import { scoreCommand } from "./commands/score.ts";
import { serveCommand } from "./commands/serve.ts";
import { settingsCommand } from "./commands/settings.ts";
import { warningsCommand } from "./commands/warnings.ts";
import { StandardOutput } from "./output.ts";

const program = new Command("rekindle")
  .description("Keeps companies from losing their customers.")
  .version(rekindleVersion())
  .showHelpAfterError("(rekindle --help lists the commands)")
  .addCommand(serveCommand())
  .addCommand(organizationCommand())
  .addCommand(memberCommand())
  .addCommand(tokenCommand())
  .addCommand(keyCommand())
  .addCommand(settingsCommand())
  .addCommand(importCommand())
  .addCommand(demoCommand())
  .addCommand(exportCommand())
  .addCommand(backtestCommand())
  .addCommand(scoreCommand())
  .addCommand(eraseCommand())
  .addCommand(rebuildCommand())
  .addCommand(backupCommand())
  .addCommand(restoreCommand())
  .addCommand(warningsCommand())
  .addCommand(deadLettersCommand())
  .addCommand(excludeCommand())
  .addCommand(doctorCommand());

const output = new StandardOutput();
try {
  await program.parseAsync();
  const failure = await output.end();
  // A reader that has seen enough, head say, needs no word about it.
  if (failure !== undefined && failure.code !== "EPIPE") {
    throw new Refusal(`the output could not be written: ${failure.message}.`);
  }
  // The embedded engine keeps threads of its own, which would keep the process alive.
  process.exit(failure === undefined ? (process.exitCode ?? 0) : 1);
} catch (error) {
  if (!isForPeople(error)) throw error;
  process.stderr.write(`rekindle: ${error.message}\n`);
  process.exit(1);
}

/** Whether the message says by itself what is wrong and what to do. */
function isForPeople(error: unknown): error is Error {
  return [Refusal, ConfigError, CallFailed, Unreachable, WarehouseError].some(
    (kind) => error instanceof kind,
  );
}
