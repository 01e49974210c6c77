/** The day on which an organization's data begins. */

import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { firstActiveDays, type PassiveEvents } from "../warehouse/schema/engagement.ts";
import { isIncluded } from "../warehouse/schema/included.ts";
import { engagementRows } from "./sql.ts";

/** The first day with an active included user, in days since 1970-01-01; null before any. */
export async function firstActiveDay(
  warehouse: Warehouse,
  { organization, passiveEvents }: { readonly organization: number; readonly passiveEvents: PassiveEvents },
): Promise<number | null> {
  const question = { organization, passiveEvents };
  const [row] = await engagementRows<{ users: number; firstDay: number }>(warehouse, sql, question);
  return row === undefined || row.users === 0 ? null : row.firstDay;
}

const sql = (passive: PassiveEvents) => `
  SELECT count() AS users, toInt32(min(firstDay)) AS firstDay FROM ${firstActiveDays(passive)}
  WHERE ${isIncluded("user")}`;
