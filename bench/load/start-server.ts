/** Starts a server that prints its port, as the echoes do. */
export async function startServer(
  ...command: string[]
): Promise<{ port: number; stop: () => Promise<void> }> {
  const server = Bun.spawn(command, {
    env: { ...process.env, PORT: "0" },
    stdout: "pipe",
    stderr: "inherit",
  });
  const stop = async () => {
    server.kill();
    await server.exited;
  };
  for await (const chunk of server.stdout) return { port: Number(Buffer.from(chunk).toString()), stop };
  throw new Error(`${command.join(" ")} ended before it printed its port`);
}
