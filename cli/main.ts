/** Entry point of the `rekindle` command. */
import { SQLiteError } from "bun:sqlite";
import { Refusal } from "../contract/refusal.ts";
import { escapeOutput, StandardOutput } from "./output.ts";
import { isForPeople, rekindleProgram } from "./program.ts";

escapeOutput();
const output = new StandardOutput();
try {
  const { program, words } = await rekindleProgram(process.argv.slice(2));
  await program.parseAsync([...words], { from: "user" });
  const failure = await output.end();
  // A reader that has seen enough, such as head, needs no message.
  if (failure !== undefined && failure.code !== "EPIPE") {
    throw new Refusal(`the output could not be written: ${failure.message}.`);
  }
  // The embedded engine keeps threads of its own, which would keep the process alive.
  process.exit(failure === undefined ? (process.exitCode ?? 0) : 1);
} catch (thrown) {
  const error = await explained(thrown);
  if (!isForPeople(error)) throw error;
  process.stderr.write(`rekindle: ${error.message}\n`);
  process.exit(1);
}

/** The sentence for a ledger that turns out to be damaged or closed to writing only after it was opened. */
async function explained(thrown: unknown): Promise<unknown> {
  if (!(thrown instanceof SQLiteError)) return thrown;
  const { ledgerTrouble } = await import("../server/ledger/sqlite/trouble.ts");
  return ledgerTrouble("the ledger", thrown) ?? thrown;
}
