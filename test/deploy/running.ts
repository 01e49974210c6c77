/** Waiting for processes that tests start as containers. */
import type { Subprocess } from "bun";
import type { Container } from "./image.ts";

type Piped = Subprocess<"ignore", "pipe", "pipe">;

/** A port that nobody has at this moment. */
export async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, fetch: () => new Response() });
  const { port } = server;
  await server.stop(true);
  if (port === undefined) throw new Error("The system gave no port.");
  return port;
}

/** All that a process prints. */
export function printed(child: Piped): Promise<readonly string[]> {
  return Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
}

/** Waits until the health check of a container succeeds. @throws Error when its process ends instead, or after a minute */
export async function untilHealthy(container: Container, child: Piped): Promise<void> {
  const endMs = performance.now() + 60_000;
  while ((await container.health()) !== 0) {
    if (child.exitCode !== null || performance.now() > endMs) throw new Error("It did not become healthy.");
    await Bun.sleep(100);
  }
}
