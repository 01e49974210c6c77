/**
 * The installation that a command works on: the ledger of the running server, reached through its control
 * socket, or, when no server runs, the ledger itself, held under the same lock that a server would take.
 */
import { type Config, readConfig } from "../server/config.ts";
import { remoteLedger } from "../server/http/shared-ledger.ts";
import { type Ledger, type Organization, Refusal, type SharedLedger } from "../server/ledger/ledger.ts";
import { openInboxReader } from "../server/ledger/sqlite/inbox-reader.ts";
import { ledgerFile, openSqliteLedger } from "../server/ledger/sqlite/open.ts";
import { fetchSocket, Unreachable } from "../server/process/control.ts";
import { takeLock } from "../server/process/lock.ts";
import { socketPath } from "../server/process/sockets.ts";

export interface Installation {
  readonly config: Config;
  readonly ledger: SharedLedger;
  /** Whether a server runs, and the ledger here is its. */
  readonly served: boolean;
  /** The ledger itself, when no server runs. */
  readonly own?: Ledger;
}

/** A server that is just starting holds the lock before it answers. */
const startingPatienceMs = 10_000;

/** Opens the installation for the time of `work`, and closes it. */
export async function withInstallation<Result>(
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const config = readConfig();
  const lock = takeLock(config.dataDir, "ledger");
  if (lock === undefined) return withServer(config, work);
  const ledger = await openSqliteLedger({ file: ledgerFile(config.dataDir) });
  try {
    return await work({ config, ledger, served: false, own: ledger });
  } finally {
    await ledger.close();
    lock.release();
  }
}

async function withServer<Result>(
  config: Config,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const socket = socketPath(config.dataDir, "control");
  await untilAnswering(socket);
  const reader = openInboxReader(ledgerFile(config.dataDir));
  try {
    return await work({ config, ledger: remoteLedger(socket, reader), served: true });
  } finally {
    reader.close();
  }
}

async function untilAnswering(socket: string): Promise<void> {
  const deadlineMs = performance.now() + startingPatienceMs;
  while (true) {
    try {
      await fetchSocket(socket, "/");
      return;
    } catch (error) {
      if (!(error instanceof Unreachable) || performance.now() > deadlineMs) throw error;
      await Bun.sleep(100);
    }
  }
}

/** The organization of this name. @throws Refusal naming those that exist. */
export async function organizationNamed(ledger: SharedLedger, name: string): Promise<Organization> {
  const organizations = await ledger.organizations.list();
  const found = organizations.find((organization) => organization.name === name);
  if (found !== undefined) return found;
  const names = organizations.map((organization) => JSON.stringify(organization.name)).join(", ");
  throw new Refusal(
    names === ""
      ? `there is no organization yet: create one with rekindle organization create ${JSON.stringify(name)}.`
      : `there is no organization ${JSON.stringify(name)}; there are ${names}.`,
  );
}
