/** Copies pulses from the ledger into the warehouse, where scores read them. */
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { Pulse, PulseCounts } from "./store.ts";

const rowsAtOnce = 5_000;

/**
 * Makes the copier of an installation. It writes an organization's pulses if any was said or taken back since
 * they were last written. Erasures take the rows out of the warehouse themselves. Call it in a turn: an
 * erasure that runs meanwhile would not find the rows.
 */
export function pulseCopier(
  warehouse: Warehouse,
  { pulses }: { readonly pulses: Pick<SharedLedger["pulses"], "all" | "counts"> },
): (organization: number) => Promise<void> {
  return async (organization) => {
    const [here, there] = await Promise.all([
      copiedPulses(warehouse, organization),
      pulses.counts(organization),
    ]);
    if (here.pulses === there.pulses && here.takenBack === there.takenBack) return;
    for (let after = 0; ; ) {
      const page = await pulses.all(organization, after, rowsAtOnce);
      if (page.length > 0) await write(warehouse, organization, page);
      if (page.length < rowsAtOnce) return;
      after = page.at(-1)?.id ?? after;
    }
  };
}

async function copiedPulses(warehouse: Warehouse, organization: number): Promise<PulseCounts> {
  const [row] = await warehouse.rows<PulseCounts>(
    `SELECT count() AS pulses, countIf(isNotNull(taken_back_at_ms)) AS takenBack
     FROM account_pulses FINAL WHERE organization = {organization:UInt32}`,
    { organization },
  );
  return row ?? { pulses: 0, takenBack: 0 };
}

/** The newest instant of a pulse is its version; 0 stands for none that took it back. */
async function write(warehouse: Warehouse, organization: number, page: readonly Pulse[]): Promise<void> {
  await warehouse.command(
    `INSERT INTO account_pulses (organization, account, pulse, version, value, said_at_ms, taken_back_at_ms)
     SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, row.1, row.2, greatest(row.4, row.5), row.3, row.4, nullIf(row.5, 0)
     FROM (
       SELECT arrayJoin(arrayZip({accounts:Array(UInt32)}, {ids:Array(UInt32)}, {values:Array(UInt8)},
         {saidAtMs:Array(Int64)}, {takenBackAtMs:Array(Int64)})) AS row)`,
    {
      organization,
      accounts: page.map(({ account }) => account),
      ids: page.map(({ id }) => id),
      values: page.map(({ value }) => value),
      saidAtMs: page.map(({ saidAtMs }) => saidAtMs),
      takenBackAtMs: page.map(({ takenBackAtMs }) => takenBackAtMs ?? 0),
    },
  );
}
