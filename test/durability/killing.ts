/**
 * Kills a loaded server at chosen states of the loader. It sees these states from outside, in the ledger's
 * file. It also looks at the files on the disk before the next start.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { freePort } from "../deploy/running.ts";
import type { ServedAs } from "../served-as.ts";
import { run, Server, type ServerOptions } from "../server.ts";

interface LedgerState {
  /** Batches that were frozen so far, and those of them that are not finished. */
  readonly frozen: number;
  readonly unfinished: number;
  readonly oldestInboxId: number;
}

/** Reads the state of the inbox beside the running server. */
class LedgerWatch {
  readonly #db: Database;

  constructor(dataDir: string) {
    this.#db = new Database(join(dataDir, "ledger.sqlite"), { readonly: true });
    this.#db.run("PRAGMA busy_timeout = 1000");
  }

  state(): LedgerState {
    const row = this.#db
      .query<{ frozen: number | null; unfinished: number; oldest: number | null }, []>(
        `SELECT (SELECT max(number) FROM frozen_batches) AS frozen,
           (SELECT count(*) FROM frozen_batches WHERE finished_at_ms IS NULL) AS unfinished,
           (SELECT min(id) FROM inbox) AS oldest`,
      )
      .get();
    return { frozen: row?.frozen ?? 0, unfinished: row?.unfinished ?? 0, oldestInboxId: row?.oldest ?? 0 };
  }

  close(): void {
    this.#db.close();
  }
}

/** A moment to kill at: `since` is the state when the wait began. */
export type Moment = (state: LedgerState, since: LedgerState) => boolean;

/** After freezing, before anything is inserted. */
export const frozen: Moment = (state, since) => state.frozen > since.frozen && state.unfinished > 0;

/** While loaded rows are being deleted. */
export const deleted: Moment = (state, since) => state.oldestInboxId > since.oldestInboxId;

/** Waits for a moment, then for `extraMs` more, and kills the server without warning. */
export async function killAt(server: Server, moment: Moment, extraMs = 0): Promise<void> {
  const watch = new LedgerWatch(server.dataDir);
  try {
    const since = watch.state();
    while (!moment(watch.state(), since)) await Bun.sleep(1);
  } finally {
    watch.close();
  }
  if (extraMs > 0) await Bun.sleep(extraMs);
  await server.crash();
}

/** A port for the first start of a server that will be killed. No other process gets it while the server is
 * away. */
export async function ownPort(): Promise<{ readonly PORT: string }> {
  return { PORT: String(await freePort()) };
}

/** The state that a killed server left: whether a batch was frozen, and whether the warehouse already had it. */
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

/** Starts the server again on its folder and port, which was `ownPort()` from the beginning. The folder may still be held by
 * its old analysis process for a moment. */
export async function restart(
  server: Server,
  as: Pick<ServerOptions, "entry"> & ServedAs = {},
): Promise<Server> {
  const port = new URL(server.url).port;
  return Server.start({ ...as, dataDir: server.dataDir, env: { PORT: port } });
}
