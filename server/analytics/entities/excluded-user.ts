/** Whether one user is excluded from figures. */

import { isIncluded, type Warehouse } from "../../warehouse/warehouse.ts";

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
