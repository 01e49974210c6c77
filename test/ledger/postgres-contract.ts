/** Every ledger's contract, on PostgreSQL. */

import { afterAll, beforeAll } from "bun:test";
import { features } from "../../server/features/features.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { PostgresServer } from "../postgres.ts";
import { BesidePostgres } from "./beside.ts";
import { type ContractPart, ledgerContract } from "./contract.ts";
import { maxHeldEventBytes, maxWaitingLinks } from "./held-event-support.ts";

/** Declares the tests of these parts of the contract, on a server of their own. */
export function postgresContract(has: readonly ContractPart[]): void {
  let server: PostgresServer;
  /** With tables, to be copied: that takes half as long as making them for every test. */
  let made: string;
  const databases = new Map<string, Promise<string>>();

  beforeAll(async () => {
    server = await PostgresServer.start();
    made = await server.database();
    await (await openPostgresLedger({ features, url: made })).close();
  });
  afterAll(() => server.stop());

  /** A folder stands for a database, so that opening it again finds what was committed. */
  async function urlOf(folder: string): Promise<string> {
    const known = databases.get(folder) ?? server.database(made);
    databases.set(folder, known);
    return known;
  }

  ledgerContract(
    "PostgreSQL",
    async (folder, options) =>
      openPostgresLedger({
        features,
        url: await urlOf(folder),
        connections: 4,
        maxHeldEventBytes,
        maxWaitingLinks,
        ...options,
      }),
    async (folder) => new BesidePostgres(await urlOf(folder)),
    has,
  );
}
