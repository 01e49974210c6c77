/**
 * Keeps an installation of the version that is checked out, as test/releases/<version>: a data folder, and a
 * cluster's two databases. Run it once, before a release: `cli/with-bun test/releases/make.ts`. open.test.ts
 * opens them with every later version.
 *
 * Both were killed while rows waited for the warehouse.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rekindleVersion } from "../../server/process/version.ts";
import { PostgresServer } from "../postgres.ts";
import { Server } from "../server.ts";
import { ClickHouseProcess, clickhouseDatabase, pack, unpack } from "./kept.ts";
import { dump } from "./postgres-dump.ts";
import { type Filled, fill, sendUnloaded, shown } from "./recipe.ts";

const kept = join(import.meta.dir, rekindleVersion());
const work = mkdtempSync(join(tmpdir(), "rekindle-release-"));
mkdirSync(kept, { recursive: true });
try {
  await keepFolder();
  await keepCluster();
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function keepFolder(): Promise<void> {
  const dataDir = join(work, "data");
  const filled = await filledAndKilled({ dataDir });
  const archive = join(kept, "data-dir.tar.gz");
  pack(dataDir, archive);
  // The kept folder was packed as the kill left it. Its contents are read from a copy.
  const copy = join(work, "copy");
  unpack(archive, copy);
  await note("data-dir", filled, { dataDir: copy });
}

async function keepCluster(): Promise<void> {
  const postgres = await PostgresServer.start();
  const clickhouseFolder = join(work, "clickhouse");
  let clickhouse = await ClickHouseProcess.start(clickhouseFolder);
  try {
    const database = await postgres.database();
    const env = (address: string, server: ClickHouseProcess) => ({
      DATABASE_URL: address,
      CLICKHOUSE_URL: server.url + clickhouseDatabase,
      DATABASE_CONNECTIONS: "4",
    });
    const filled = await filledAndKilled({ dataDir: join(work, "node"), env: env(database, clickhouse) });
    await clickhouse.stop();
    await Bun.write(join(kept, "cluster-ledger.json.gz"), gzipSync(JSON.stringify(await dump(database))));
    pack(clickhouseFolder, join(kept, "cluster-warehouse.tar.gz"));
    clickhouse = await ClickHouseProcess.start(clickhouseFolder);
    await note("cluster", filled, { dataDir: join(work, "node"), env: env(database, clickhouse) });
  } finally {
    await clickhouse.stop();
    await postgres.stop();
  }
}

interface Place {
  readonly dataDir: string;
  readonly env?: Record<string, string>;
}

async function filledAndKilled(place: Place): Promise<Filled> {
  const server = await Server.start(place);
  try {
    const filled = await fill(server);
    const analysis = server.analysisPid();
    if (analysis === undefined) throw new Error("there is no analysis to hold");
    process.kill(analysis, "SIGSTOP");
    await sendUnloaded(server, filled.token);
    return filled;
  } finally {
    await server.crash();
  }
}

async function note(name: string, filled: Filled, place: Place): Promise<void> {
  const server = await Server.start(place);
  try {
    await server.ready();
    const text = JSON.stringify({ filled, shown: await shown(server, filled) });
    await Bun.write(join(kept, `${name}-shown.json.gz`), gzipSync(text));
  } finally {
    await server.stop();
  }
}
