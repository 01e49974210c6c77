/** The output of commands that have to succeed. */

export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Returns a command's standard output. @param rekindle runs it, with these parameters @throws Error when it
 * fails */
export async function printedBy(
  parameters: readonly string[],
  rekindle: () => Promise<CommandResult>,
): Promise<string> {
  while (true) {
    const { exitCode, stdout, stderr } = await rekindle();
    if (exitCode === 0) return stdout;
    // A node of a cluster that is slow for seconds cannot keep the lease: nothing was begun, and the command
    // says what to do.
    if (stderr.includes("no analysis node leads at this moment: try again")) continue;
    throw new Error(`rekindle ${parameters.join(" ")} failed:\n${stderr}`);
  }
}
