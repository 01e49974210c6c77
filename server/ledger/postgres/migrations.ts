/**
 * The tables of the ledger on PostgreSQL, as numbered steps that only go forward. A step that was released is never
 * edited. Whichever node starts first runs what is missing, and the others wait for it.
 */
import { Refusal } from "../ledger.ts";
import type { Queries, Sql } from "./connect.ts";
import { erasedNamesTable } from "./erased-names.ts";
import { identities } from "./identities.ts";
import { liveItemsTable } from "./live-items.ts";
import { advisoryLocks } from "./locks.ts";
import { nodeTables } from "./nodes.ts";
import { erasures, operation } from "./operation-tables.ts";
import { parkingTables } from "./parking-tables.ts";
import { peopleAndAudit } from "./people-tables.ts";
import { settingsTable } from "./settings.ts";
import { sourceSettingsTable } from "./source-settings.ts";
import { sourcesTables } from "./sources.ts";
import { inbox, messageIds, organizationsAndCredentials, usersAndAccounts } from "./tables.ts";
import { inTransaction } from "./transaction.ts";
import { viewsTable } from "./views.ts";

const ingestion = organizationsAndCredentials + usersAndAccounts + inbox + messageIds + parkingTables;
const peopleAndSettings =
  peopleAndAudit + viewsTable + settingsTable + sourcesTables + sourceSettingsTable + identities;

const nodes = nodeTables + erasedNamesTable + liveItemsTable;

/** What tells a ledger from every other. A dump has it, too: what is restored from one is the same ledger. */
const identity = "ALTER TABLE ledger_form ADD COLUMN identity uuid NOT NULL DEFAULT gen_random_uuid();";

const migrations: readonly string[] = [
  ingestion + operation + erasures + peopleAndSettings + nodes,
  identity,
];

/** The uuid that tells this ledger from every other. */
export async function ledgerIdentity(queries: Queries): Promise<string> {
  const [form] = await queries<{ identity: string }[]>`SELECT identity::text AS identity FROM ledger_form`;
  if (form === undefined) throw new Error("The ledger in PostgreSQL has lost its identity.");
  return form.identity;
}

/** How many steps this code knows. */
export const knownForm = migrations.length;

/**
 * Brings the database to the form that this code knows, in one transaction.
 * @throws Refusal when the database was written by newer code.
 */
export async function migrate(sql: Sql): Promise<void> {
  await inTransaction(sql, async (tx) => {
    // A step over many rows takes long, and so does waiting for the node that runs it.
    tx.connection.waitForEver();
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SET LOCAL lock_timeout = '10min'`;
    await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.migrations})`;
    await tx`CREATE TABLE IF NOT EXISTS ledger_form (only_row integer PRIMARY KEY CHECK (only_row = 1), steps integer NOT NULL)`;
    await tx`INSERT INTO ledger_form VALUES (1, 0) ON CONFLICT DO NOTHING`;
    const [form] = await tx<{ steps: number }[]>`SELECT steps FROM ledger_form`;
    const done = form?.steps ?? 0;
    if (done > migrations.length) {
      throw new Refusal(
        `The ledger in PostgreSQL was written by a newer Rekindle (its form is ${done}, this one knows ` +
          `${migrations.length}). Start the newer version again, or restore a backup made before the upgrade.`,
      );
    }
    for (const step of migrations.slice(done)) await tx.unsafe(step);
    if (done < migrations.length) await tx`UPDATE ledger_form SET steps = ${migrations.length}`;
  });
}
