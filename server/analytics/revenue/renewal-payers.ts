/** The payers that renew in a month, or whose subscription ends in it as scheduled. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { jsonSettings } from "../json-text.ts";
import { type RenewalMonth, type RenewalsQuestion, renewalRows } from "./renewal-rows.ts";

/** MRR is in minor units of the reporting currency. */
export interface RenewingPayer {
  readonly entity: number;
  /** Of the first renewal or end, in days since 1970-01-01. */
  readonly day: number;
  readonly byAttribute: boolean;
  readonly due: number;
  readonly scheduled: number;
  readonly renewed: number;
  readonly lost: number;
  readonly open: number;
  /** Empty without one. */
  readonly plan: string;
  readonly priceInterval: string;
  readonly risk: number | null;
  /** The risk of being lost until the renewal. */
  readonly lostBy: number | null;
}

type Asked = Omit<RenewalsQuestion, "months"> & {
  readonly month: RenewalMonth;
  readonly limit: number;
  readonly offset: number;
};

/** A page of them, the earliest renewal first, and how many there are. @throws WarehouseError */
export async function renewingPayers(
  warehouse: Warehouse,
  { month, limit, offset, ...question }: Asked,
): Promise<{ readonly total: number; readonly payers: readonly RenewingPayer[] }> {
  const { text, parameters } = renewalRows({ ...question, months: [month] });
  const rows = await warehouse.rows<RenewingPayer & { readonly total: number }>(
    `SELECT entity, assumeNotNull(day) AS day, toBool(has_attribute) AS byAttribute, due, scheduled, renewed, lost, open,
       plan, price_interval AS priceInterval, risk, lost_by AS lostBy, count() OVER () AS total
     FROM (${text}) ORDER BY day, due + scheduled DESC, entity
     LIMIT {limit:UInt32} OFFSET {offset:UInt32} ${jsonSettings}`,
    { ...parameters, limit, offset },
  );
  if (rows.length > 0 || offset === 0) {
    return { total: rows[0]?.total ?? 0, payers: rows.map(({ total: _, ...payer }) => payer) };
  }
  const [first] = await warehouse.rows<{ readonly total: number }>(
    `SELECT count() AS total FROM (${text}) ${jsonSettings}`,
    parameters,
  );
  return { total: first?.total ?? 0, payers: [] };
}
