/**
 * The installation that a command works on. While a server runs, that is its ledger through the control
 * socket. Otherwise it is the ledger itself, under the lock that a server would take. With a cluster's ledger
 * the command is a node while it runs.
 */

import { existsSync, readdirSync } from "node:fs";
import { Option } from "commander";
import { Refusal } from "../contract/refusal.ts";
import { remoteLedger } from "../server/between/remote/shared-ledger.ts";
import { refuseMoved } from "../server/cluster/moved.ts";
import { type ClusterConfig, type Config, readConfig } from "../server/config.ts";
import { features } from "../server/features/features.ts";
import type { Ledger, SharedLedger } from "../server/ledger/ledger.ts";
import type { ClusterNode } from "../server/ledger/postgres/node.ts";
import { openInboxReader } from "../server/ledger/sqlite/inbox-reader.ts";
import { ledgerFile } from "../server/ledger/sqlite/ledger-file.ts";
import { refuseUnfinishedRestore } from "../server/ledger/sqlite/restoring.ts";
import type { Organization } from "../server/ledger/stores/organization-rows.ts";
import { fetchSocket, nodePeer, type Peer, socketPeer, Unreachable } from "../server/process/control.ts";
import { takeLock, wasTaken } from "../server/process/lock.ts";
import { socketPath } from "../server/process/sockets.ts";
import { systemTime } from "../server/process/time.ts";

export interface Installation {
  readonly config: Config;
  readonly ledger: SharedLedger;
  /** Whether a server runs on the data folder. But in a cluster, the ledger here is its. */
  readonly served: boolean;
  /** The ledger itself, when no server runs, or in a cluster. */
  readonly own?: Ledger;
  /** Analysis that runs, of this machine or another node; undefined when none does. */
  readonly analysis?: Peer | undefined;
  /** This command among the nodes of a cluster. */
  readonly node?: ClusterNode;
}

/** A folder where nothing ever was is a wrong DATA_DIR: a nightly backup of it would be empty, and well.
 * @throws Refusal when there is no installation */
function refuseNothing({ cluster, dataDir }: Config): void {
  if (cluster !== null || !mayBeFolder(dataDir)) return;
  if (existsSync(ledgerFile(dataDir)) || wasTaken(dataDir, "ledger")) return;
  refuseUnfinishedRestore(dataDir);
  throw new Refusal(
    `there is no installation in ${dataDir}: set DATA_DIR to the data folder of one, or start one (npm start, or rekindle serve).`,
  );
}

/** A path that cannot be a folder is refused with the reason when it is opened. */
function mayBeFolder(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ENOENT";
  }
}

/** A server that is just starting holds the lock before it answers. */
const startingPatienceMs = 10_000;

/** Opens the installation for the time of `work`, and closes it.
 * @param mayBegin whether it is made where there is none
 * @throws Refusal when there is none */
export async function withInstallation<Result>(
  work: (installation: Installation) => Promise<Result>,
  { mayBegin = false } = {},
): Promise<Result> {
  const config = readConfig();
  if (!mayBegin) refuseNothing(config);
  if (config.cluster !== null) return withCluster(config, config.cluster, work);
  const lock = takeLock(config.dataDir, "ledger");
  if (lock === undefined) return withServer(config, work);
  if (lock.openFilesWarning !== undefined) process.stderr.write(`rekindle: ${lock.openFilesWarning}\n`);
  refuseMoved(config.dataDir);
  // Imported here, as the cluster's is: a command that uses a running server's ledger starts in half the
  // time.
  const { openSqliteLedger } = await import("../server/ledger/sqlite/open.ts");
  const ledger = await openSqliteLedger({ file: ledgerFile(config.dataDir), features });
  try {
    return await work({ config, ledger, served: false, own: ledger });
  } finally {
    await ledger.close();
    lock.release();
  }
}

async function withCluster<Result>(
  config: Config,
  cluster: ClusterConfig,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const { openCluster } = await import("../server/cluster/open-cluster.ts");
  const { createLogger } = await import("../server/process/log.ts");
  const { ledger, node } = await openCluster(cluster, "command", createLogger("command", "warn"), systemTime);
  // A command has no caches; an import reports when its admitted rows are stored.
  node.whenChanged({
    forget: () => undefined,
    settled: async () => undefined,
    flushCounts: async () => undefined,
  });
  try {
    const analysis = await analysisOf(config, node);
    const served = await fetchSocket(socketPath(config.dataDir, "control"), "/").then(
      () => true,
      () => false,
    );
    const result = await work({ config, ledger, served, own: ledger, node, analysis });
    // As with one server: a token that is revoked is refused when the command has ended.
    await node.knownEverywhere();
    return result;
  } finally {
    await node.leave();
    await Promise.all([node.close(), ledger.close()]);
  }
}

/** The leading analysis node, otherwise one that can reach the leader. */
async function analysisOf(config: Config, node: ClusterNode): Promise<Peer | undefined> {
  const key = await node.key();
  const nodes = node.live.filter(({ role }) => role === "analysis");
  const urls = nodes
    .toSorted((a, b) => Number(b.leaderStatus !== null) - Number(a.leaderStatus !== null))
    .flatMap(({ url }) => (url === null ? [] : [url]));
  for (const peer of [
    ...urls.map((url) => nodePeer(url, key)),
    socketPeer(socketPath(config.dataDir, "analysis")),
  ]) {
    // A process that computes scores may answer late.
    const signal = AbortSignal.timeout(startingPatienceMs);
    const answer = await peer.fetch("/status", { signal }).catch(() => undefined);
    if (answer?.ok) return peer;
  }
  return undefined;
}

async function withServer<Result>(
  config: Config,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  const socket = socketPath(config.dataDir, "control");
  await untilAnswering(socket);
  const reader = openInboxReader(ledgerFile(config.dataDir));
  try {
    const analysis = socketPeer(socketPath(config.dataDir, "analysis"));
    return await work({ config, ledger: remoteLedger(socket, reader), served: true, analysis });
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
  const names = namesOf(organizations);
  throw new Refusal(
    names === ""
      ? `there is no organization yet: create one with rekindle organization create ${JSON.stringify(name)}.`
      : `there is no organization ${JSON.stringify(name)}; there are ${names}.`,
  );
}

/** The organization of this name; without a name, the only one. @throws Refusal naming those that exist. */
export async function organizationOf(ledger: SharedLedger, name: string | undefined): Promise<Organization> {
  if (name !== undefined) return organizationNamed(ledger, name);
  const organizations = await ledger.organizations.list();
  const [only] = organizations;
  if (only !== undefined && organizations.length === 1) return only;
  throw new Refusal(
    only === undefined
      ? "there is no organization yet: create one with rekindle organization create NAME."
      : `give --organization: there are ${namesOf(organizations)}.`,
  );
}

function namesOf(organizations: readonly Organization[]): string {
  return organizations.map(({ name }) => JSON.stringify(name)).join(", ");
}

/** The option that names a command's organization. */
export const organizationOption = new Option(
  "--organization <name>",
  "the organization; needed where there are several",
);

/** What that option gives. */
export interface OfOrganization {
  readonly organization?: string;
}

/** Opens the installation and finds the organization, for the time of `work`.
 * @throws Refusal as `withInstallation` and `organizationOf` */
export function withOrganization<Result>(
  name: string | undefined,
  work: (installation: Installation, organization: Organization) => Promise<Result>,
): Promise<Result> {
  return withInstallation(async (installation) =>
    work(installation, await organizationOf(installation.ledger, name)),
  );
}
