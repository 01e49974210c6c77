/** The parts that kills of a server share: its port and its starts, the files that it leaves, and a kill in a
 * deletion of loaded rows. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { freePort } from "../deploy/running.ts";
import type { ServedAs } from "../served-as.ts";
import { run, Server, type ServerOptions } from "../server.ts";
import { until } from "../until.ts";

/** Kills a server without warning while rows that it has loaded are being deleted: the oldest row of the
 * inbox is another one. */
export async function killWhileDeleting(server: Server): Promise<void> {
  const db = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
  try {
    db.run("PRAGMA busy_timeout = 1000");
    const query = db.query<{ oldest: number | null }, []>("SELECT min(id) AS oldest FROM inbox");
    const oldest = () => query.get()?.oldest ?? 0;
    const since = oldest();
    await until("loaded rows are being deleted", oldest, (now) => now > since, { everyMs: 1 });
  } finally {
    db.close();
  }
  await server.crash();
}

/** A port for the first start of a server that will be killed. No other process gets it while the server is
 * away. */
export async function ownPort(): Promise<{ readonly PORT: string }> {
  return { PORT: String(await freePort()) };
}

/** The state that a killed server left: whether a batch was frozen, and whether the warehouse already had
 * it. */
export interface Remains {
  readonly unfinishedBatches: number;
  readonly halfWritten: boolean;
}

/** Looks into the folder of a server that is dead, in a process of its own: the engine cannot be closed and
 * opened on another folder in one process. */
export async function remains(dataDir: string): Promise<Remains> {
  const { exitCode, stdout, stderr } = await run([
    process.execPath,
    join(import.meta.dir, "remains.ts"),
    dataDir,
  ]);
  if (exitCode !== 0) throw new Error(`remains.ts failed:\n${stderr}`);
  return JSON.parse(stdout);
}

/** Starts the server again on its folder and port, which was `ownPort()` from the beginning. The folder may
 * still be held by its old analysis process for a moment. */
export async function restart(
  server: Server,
  as: Pick<ServerOptions, "entry"> & ServedAs = {},
): Promise<Server> {
  const port = new URL(server.url).port;
  return Server.start({ ...as, dataDir: server.dataDir, env: { PORT: port } });
}
