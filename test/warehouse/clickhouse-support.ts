/** A test's server of ClickHouse, and warehouses on it, each in a database of its own. */
import { afterAll, expect } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ClickHouseOptions, openClickHouseWarehouse } from "../../server/warehouse/engine/clickhouse.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { type ClickHouseServerOptions, ClickHouseTestServer } from "./clickhouse-server.ts";

/** A server for the tests of this file. */
export async function serverOfThisFile(
  options: Partial<ClickHouseServerOptions> = {},
): Promise<ClickHouseTestServer> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-clickhouse-"));
  const server = await new ClickHouseTestServer({ cluster: null, ...options, folder }).listen();
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return server;
}

/** Opens the warehouse that belongs to a folder: the same database for the same folder. */
export function openedOn(
  server: ClickHouseTestServer,
  options: Omit<ClickHouseOptions, "url"> = {},
): (folder: string) => Promise<Warehouse> {
  return (folder) => {
    const database = `of_${createHash("sha256").update(folder).digest("hex").slice(0, 12)}`;
    return openClickHouseWarehouse({ url: server.url(database), ...options });
  };
}

/** The error of a promise that must be rejected. */
export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.unreachable("it should have failed"),
    (error: unknown) => error,
  );
}
