/** Whether one user is excluded from figures. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";

/** @param question the user by its number within the organization */
export async function isUserExcluded(
  warehouse: Warehouse,
  question: { readonly organization: number; readonly user: number },
): Promise<boolean> {
  const [row] = await warehouse.rows<{ isExcluded: boolean }>(
    `SELECT toBool(NOT ${isIncluded("{user:UInt32}")}) AS isExcluded`,
    { ...question },
  );
  return row?.isExcluded ?? false;
}
