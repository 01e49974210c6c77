/** The users of some accounts. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";

/** Their numbers, each with that of its account, excluded users among them. @throws WarehouseError */
export async function membersOfAccounts(
  warehouse: Warehouse,
  organization: number,
  accounts: readonly number[],
): Promise<readonly { readonly user: number; readonly account: number }[]> {
  if (accounts.length === 0) return [];
  return warehouse.rows(
    `SELECT user, account FROM users FINAL
     WHERE organization = {organization:UInt32} AND account IN {accounts:Array(UInt32)}`,
    { organization, accounts: [...accounts] },
  );
}
