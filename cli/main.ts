/** Entry point of the `rekindle` command. */
import { Refusal } from "../contract/refusal.ts";
import { escapeOutput, StandardOutput } from "./output.ts";
import { isForPeople, rekindleProgram } from "./program.ts";

const program = await rekindleProgram(process.argv[2]);

escapeOutput();
const output = new StandardOutput();
try {
  await program.parseAsync();
  const failure = await output.end();
  // A reader that has seen enough, such as head, needs no message.
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
