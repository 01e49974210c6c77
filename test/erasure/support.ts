/** The parts that tests of erasure share. */

import { join } from "node:path";
import { run, type Server } from "../server.ts";

/** A read key with the right to erase. */
export async function erasingKey(server: Server, organization: string): Promise<string> {
  return (await server.command("key", "create", "--organization", organization, "--right", "erase")).trim();
}

/** Asks the JSON API with a read key. */
export function api(server: Server, key: string, path: string, method = "GET"): Promise<Response> {
  return fetch(server.url + path, { method, headers: { Authorization: `Bearer ${key}` } });
}

/** Sends items in batches, all of which have to be taken. */
export async function sendAll(server: Server, token: string, items: readonly object[]): Promise<void> {
  for (let start = 0; start < items.length; start += 500) {
    const batch = items.slice(start, start + 500);
    const response = await server.post("/batch", token, { batch });
    const answer = (await response.json()) as { accepted?: number };
    if (answer.accepted !== batch.length) throw new Error(`a batch was answered ${JSON.stringify(answer)}`);
  }
}

export function identify(userId: string, more: object = {}): object {
  return { type: "identify", userId, email: `${userId}@example.com`, ...more };
}

export function track(userId: string, event: string, timestamp: string, more: object = {}): object {
  return { type: "track", userId, event, timestamp, ...more };
}

/** An instant so many days ago, as the API takes it. */
export function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** Once, because figures are compared with those of some minutes ago. */
const [today, yearAgo] = [daysAgo(0).slice(0, 10), daysAgo(350).slice(0, 10)];

/** The figures that must equal those of an organization without the erased user. */
export async function figures(server: Server, key: string): Promise<unknown> {
  // The oldest events of these tests are 300 days old.
  const paths = [`/api/active-users?days=400&to=${today}`, `/api/retention?from=${yearAgo}&periods=60`];
  const answers = paths.map((path) => api(server, key, path));
  return Promise.all(
    (await Promise.all(answers)).map(async (response) => {
      if (!response.ok) throw new Error(await response.text());
      // How fresh they are is another matter.
      const { freshness: _, ...figures } = (await response.json()) as Record<string, unknown>;
      return figures;
    }),
  );
}

/** Lets the engine of a stopped server remove the parts that it replaced. */
export async function removeOldParts(dataDir: string): Promise<void> {
  const program = join(import.meta.dir, "remove-old-parts.ts");
  const { exitCode, stderr } = await run([process.execPath, program, dataDir]);
  if (exitCode !== 0) throw new Error(`remove-old-parts.ts failed:\n${stderr}`);
}

/** The files in which a text stands. */
export async function filesWith(dataDir: string, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of new Bun.Glob("**/*").scan({ cwd: dataDir, dot: true })) {
    // The engine may remove a file while it is being looked for.
    const bytes = await Bun.file(join(dataDir, file))
      .arrayBuffer()
      .catch(() => new ArrayBuffer(0));
    if (Buffer.from(bytes).includes(text)) found.push(file);
  }
  return found;
}
