/** The day on which an organization's data begins. */

import type { Warehouse } from "../../warehouse/warehouse.ts";
import {
  engagementParameters,
  firstActiveDays,
  isIncluded,
  type PassiveEvents,
} from "../../warehouse/warehouse.ts";

/** The first day with an active included user, in days since 1970-01-01; null before any. */
export async function firstActiveDay(
  warehouse: Warehouse,
  { organization, passiveEvents }: { readonly organization: number; readonly passiveEvents: PassiveEvents },
): Promise<number | null> {
  const [row] = await warehouse.rows<{ users: number; firstDay: number }>(
    `SELECT count() AS users, toInt32(min(firstDay)) AS firstDay FROM ${firstActiveDays(passiveEvents)}
     WHERE ${isIncluded("user")}`,
    { ...engagementParameters(passiveEvents), organization },
  );
  return row === undefined || row.users === 0 ? null : row.firstDay;
}
