/** How much of an organization's data the warehouse has. Events are counted in the rollup, from which figures
 * are made. */

import { countsOfDays } from "../../server/analytics/counts-of-days.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { isIncluded } from "../../server/warehouse/schema/included.ts";

export interface Counts {
  readonly events: number;
  readonly users: number;
}

/** Events and users that figures show by now. */
export async function counts(warehouse: Warehouse, organization: number): Promise<Counts> {
  const [found] = await warehouse.rows<Counts>(sql, { organization });
  return found ?? { events: 0, users: 0 };
}

const sql = `
  SELECT
    (SELECT sum(times) FROM ${countsOfDays("organization = {organization:UInt32}")}) AS events,
    (SELECT uniqExact(user) FROM users
     WHERE organization = {organization:UInt32} AND ${isIncluded("user")}) AS users`;
