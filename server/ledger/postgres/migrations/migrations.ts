/**
 * The tables of the ledger on PostgreSQL, as numbered steps without a way back. A released step is never
 * edited. The node that starts first runs the missing steps, and the others wait for it.
 */
import { Refusal } from "../../../../contract/refusal.ts";
import { type Feature, type FeatureStep, ofFeature, stepOf } from "../../feature.ts";
import { bulkLoadTimes } from "../../stores/bulk-loads.ts";
import {
  accountsOfErasures,
  lastingMessageIdsTable,
  outagesTable,
  peopleAndAudit,
  postgresTypes,
  settingsTable,
  sourceSettingsTable,
  sourcesTables,
} from "../../tables.ts";
import type { Queries, Sql, Tx } from "../connect.ts";
import { erasedAccountNames, erasedNamesTable } from "../erased-names.ts";
import { liveItemsTable } from "../live-items.ts";
import { advisoryLocks } from "../locks.ts";
import { nodeTables } from "../nodes.ts";
import { inTransaction } from "../transaction.ts";
import { messageIdKinds } from "../write/message-ids.ts";
import { addEmailKeys } from "./email-keys.ts";
import { heldEventTables } from "./held-event-tables.ts";
import { identities } from "./identity-tables.ts";
import { accountErasures, erasures, operation, organizationDeletions } from "./operation-tables.ts";
import { verifiedEmailsAndMakers } from "./people-tables.ts";
import { renamedEvents, renamedTables } from "./renamed-tables.ts";
import { inbox, messageIds, organizationsAndCredentials, usersAndAccounts } from "./tables.ts";

const ingestion = organizationsAndCredentials + usersAndAccounts + inbox + messageIds + heldEventTables;
const peopleSettingsAndSources =
  [peopleAndAudit, settingsTable, sourcesTables, sourceSettingsTable]
    .map((tables) => tables(postgresTypes))
    .join("") + identities;

const nodes = nodeTables + erasedNamesTable + liveItemsTable;

/** The identity of a ledger. A dump contains it: a ledger that is restored from a dump is the same one. */
const identity = "ALTER TABLE ledger_form ADD COLUMN identity uuid NOT NULL DEFAULT gen_random_uuid();";

/** Stores the number of a database's steps. */
export const formTable =
  "CREATE TABLE IF NOT EXISTS ledger_form (only_row integer PRIMARY KEY CHECK (only_row = 1), steps integer NOT NULL)";

/** The times of an account's name and picture. They are unknown for stored accounts. These get the time of
 * their last change, so that an import of past data renames no account. */
const accountTimes = `
  ALTER TABLE accounts ADD COLUMN said_at_ms bigint NOT NULL DEFAULT 0;
  ALTER TABLE accounts ADD COLUMN fields_said_at_ms text NOT NULL DEFAULT '{}';
  UPDATE accounts SET said_at_ms = updated_at_ms;
`;

/** Attributes of accounts, and the table of the warehouse with their history. The inbox's tables lose their
 * list of the warehouse's tables, which every segment has: the code's type `WarehouseTable` is the list. */
const accountAttributes = `
  ALTER TABLE accounts ADD COLUMN traits text NOT NULL DEFAULT '{}';
  ALTER TABLE populations ADD COLUMN account_version_rows bigint NOT NULL DEFAULT 0;
  ALTER TABLE populations ADD COLUMN account_version_row_sum bigint NOT NULL DEFAULT 0;
  DO $$
  DECLARE
    listing record;
  BEGIN
    FOR listing IN
      SELECT conrelid::regclass AS of_table, conname AS name FROM pg_constraint
      WHERE contype = 'c' AND connamespace = current_schema()::regnamespace
        AND pg_get_constraintdef(oid) LIKE '%warehouse_table%user_versions%'
    LOOP
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', listing.of_table, listing.name);
    END LOOP;
  END $$;
`;

/** SQL, or a function for a change that SQL cannot make. */
export type Migration = string | ((tx: Tx) => Promise<void>);

/** The steps, in order. */
const steps: readonly (Migration | FeatureStep | readonly (string | FeatureStep)[])[] = [
  [ingestion + operation + erasures + peopleSettingsAndSources + nodes, ofFeature("saved-views")],
  identity,
  accountTimes,
  addEmailKeys,
  verifiedEmailsAndMakers,
  messageIdKinds,
  accountErasures + erasedAccountNames,
  organizationDeletions,
  renamedTables + renamedEvents,
  outagesTable(postgresTypes),
  lastingMessageIdsTable(postgresTypes),
  accountAttributes,
  ofFeature("sending"),
  ofFeature("notes-and-tasks"),
  ofFeature("segments"),
  ofFeature("alerts"),
  ofFeature("sending", 1),
  ofFeature("alerts", 1),
  ofFeature("sending", 2),
  accountsOfErasures,
  ofFeature("sending", 3),
  ofFeature("alerts", 2),
  ofFeature("alerts", 3),
  ofFeature("alerts", 4),
  ofFeature("segments", 1),
  ofFeature("alerts", 5),
  ofFeature("alerts", 6),
  ofFeature("alerts", 7),
  ofFeature("alerts", 8),
  bulkLoadTimes("bigint"),
  ofFeature("alerts", 9),
  ofFeature("sending", 4),
  ofFeature("alerts", 10),
  ofFeature("alerts", 11),
  ofFeature("alerts", 12),
  ofFeature("alerts", 13),
  ofFeature("alerts", 14),
  ofFeature("pulse"),
  ofFeature("notes-and-tasks", 1),
  ofFeature("assistants"),
  ofFeature("imports"),
];

/** The uuid of this ledger. No other ledger has it. */
export async function ledgerIdentity(queries: Queries): Promise<string> {
  const [form] = await queries<{ identity: string }[]>`SELECT identity::text AS identity FROM ledger_form`;
  if (form === undefined) throw new Error("The ledger in PostgreSQL has lost its identity.");
  return form.identity;
}

/** The number of steps of this code. */
export const knownForm = steps.length;

/** The steps, in order, with those of features. */
export function migrations(features: readonly Feature[]): readonly Migration[] {
  const textOf = (step: string | FeatureStep) =>
    typeof step === "string" ? step : stepOf(features, step, postgresTypes);
  return steps.map((step) => {
    if (typeof step === "function") return step;
    if (typeof step === "string" || "feature" in step) return textOf(step);
    return step.map(textOf).join("");
  });
}

/**
 * Migrates the database to the form of this code, in one transaction.
 * @param upto the number of steps after the call
 * @throws Refusal when the database was written by newer code.
 */
export async function migrate(sql: Sql, features: readonly Feature[], upto = knownForm): Promise<void> {
  await inTransaction(sql, async (tx) => {
    // A step over many rows takes long, and so does the wait for the node that runs it.
    tx.connection.waitWithoutLimit();
    await tx`SET LOCAL statement_timeout = 0`;
    await tx`SET LOCAL lock_timeout = '10min'`;
    await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.migrations})`;
    await tx.unsafe(formTable);
    await tx`INSERT INTO ledger_form VALUES (1, 0) ON CONFLICT DO NOTHING`;
    const [form] = await tx<{ steps: number }[]>`SELECT steps FROM ledger_form`;
    const done = form?.steps ?? 0;
    if (done > knownForm) {
      throw new Refusal(
        `The ledger in PostgreSQL was written by a newer Rekindle (its form is ${done}, this one knows ` +
          `${knownForm}). Start the newer version again, or restore a backup made before the upgrade.`,
      );
    }
    for (const step of migrations(features).slice(done, upto)) {
      await (typeof step === "string" ? tx.unsafe(step) : step(tx));
    }
    if (done < upto) await tx`UPDATE ledger_form SET steps = ${upto}`;
  });
}
