/** Waiting for processes that tests start as containers. */
import type { Subprocess } from "bun";
import { until } from "../until.ts";

type Piped = Subprocess<"ignore", "pipe", "pipe">;

/** A free port that the system does not give to other processes. Ports that the system assigns begin at
 * 32768. */
export async function freePort(): Promise<number> {
  while (true) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    try {
      await Bun.serve({ port, fetch: () => new Response() }).stop(true);
      return port;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EADDRINUSE")) throw error;
    }
  }
}

/** All that a process prints. */
export function printed(child: Piped): Promise<readonly string[]> {
  return Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
}

/** Waits until the health check of a container succeeds. @param output what its process prints @throws Error
 * with it when the process ends instead */
export async function untilHealthy(
  container: { health(): Promise<number>; permissions(): string },
  child: Piped,
  output: ReturnType<typeof printed>,
): Promise<void> {
  await until(
    "the container is healthy",
    async () => {
      const exitCode = await container.health();
      if (exitCode !== 0 && (child.exitCode !== null || child.signalCode !== null))
        throw new Error(
          `The container ended: ${child.exitCode ?? child.signalCode}\n${(await output).join("\n")}\n${container.permissions()}`,
        );
      return exitCode;
    },
    (exitCode) => exitCode === 0,
  );
}
