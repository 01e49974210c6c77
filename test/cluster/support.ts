/** A cluster for a test file: one PostgreSQL, one server with ClickHouse's HTTP interface, and nodes as own
 * processes. */

import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { openPostgresLedger, type PostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { createProjectToken, createReadKey } from "../../server/ledger/stores/credentials.ts";
import { freePort } from "../deploy/running.ts";
import { PostgresServer } from "../postgres.ts";
import { printedBy } from "../printed-by.ts";
import { type ServedTime, servedAsVariable } from "../served-as.ts";
import { rekindleWith, Server, type ServerOptions, type StartedCommand, startServeWith } from "../server.ts";
import type { ClickHouseTestServer } from "../warehouse/clickhouse-server.ts";
import { serverOfThisFile } from "../warehouse/clickhouse-support.ts";

/** An analysis node, and where other nodes reach it. */
export type AnalysisNode = StartedCommand & { readonly url: string };

export class TestCluster {
  readonly postgres: PostgresServer;
  readonly clickhouse: ClickHouseTestServer;
  /** The test's own way to what is stored. */
  readonly ledger: PostgresLedger;
  readonly env: Record<string, string>;
  readonly #folders: string[] = [];
  readonly #running = new Set<{ kill(signal: "SIGKILL"): unknown }>();

  private constructor(
    postgres: PostgresServer,
    clickhouse: ClickHouseTestServer,
    ledger: PostgresLedger,
    database: string,
  ) {
    this.ledger = ledger;
    this.postgres = postgres;
    this.clickhouse = clickhouse;
    this.env = {
      DATABASE_URL: database,
      CLICKHOUSE_URL: clickhouse.url("cluster"),
      DATABASE_CONNECTIONS: "4",
    };
  }

  /** Starts both servers. They and all nodes end with the test file. */
  static async start(): Promise<TestCluster> {
    const clickhouse = await serverOfThisFile();
    const postgres = await PostgresServer.start();
    const url = await postgres.database();
    const cluster = new TestCluster(postgres, clickhouse, await openPostgresLedger({ features, url }), url);
    afterAll(async () => {
      for (const node of cluster.#running) node.kill("SIGKILL");
      await cluster.ledger.close().catch(() => undefined);
      await postgres.stop();
      for (const folder of cluster.#folders) rmSync(folder, { recursive: true, force: true });
    });
    return cluster;
  }

  /** Starts a node that takes requests. @param more as in `ServerOptions` */
  async node(
    role: "all" | "intake" = "intake",
    env: Record<string, string> = {},
    more: Pick<ServerOptions, "time"> = {},
  ): Promise<Server> {
    const server = await Server.start({
      dataDir: this.folder(),
      role,
      env: { ...this.env, ...env },
      ...more,
    });
    this.#running.add(server);
    return server;
  }

  /** Starts a node that answers questions, and may lead. @param time intervals that differ from the
   * product's */
  async analysis(env: Record<string, string> = {}, time: ServedTime = {}): Promise<AnalysisNode> {
    const NODE_URL = `http://127.0.0.1:${await freePort()}`;
    const folder = this.folder();
    const servedAs = JSON.stringify({ time, clockOf: folder });
    const started = startServeWith(
      folder,
      { ...this.env, NODE_URL, LOG_LEVEL: "info", [servedAsVariable]: servedAs, ...env },
      "--role",
      "analysis",
    );
    this.#running.add(started.process);
    return { ...started, url: NODE_URL };
  }

  /** Runs a command on a machine on which nothing else runs. */
  command(...parameters: string[]): Promise<string> {
    return printedBy(parameters, () => rekindleWith(this.folder(), this.env, ...parameters));
  }

  /** Creates an organization, and a token that writes to it and a key that reads it. */
  async organization(
    name: string,
  ): Promise<{ readonly id: number; readonly token: string; readonly key: string }> {
    const nowMs = Date.now();
    const { id } = await this.ledger.organizations.create({ name, timezone: "UTC", nowMs }, settingUp);
    const wanted = { organization: id, name: "test", nowMs };
    const token = await createProjectToken(this.ledger.tokens, wanted, settingUp);
    const key = await createReadKey(this.ledger.readKeys, { ...wanted, more: [] }, settingUp);
    return { id, token: token.secret, key: key.secret };
  }

  /** A new folder, removed with the cluster. */
  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), "rekindle-node-"));
    this.#folders.push(folder);
    return folder;
  }
}
