/** Controls of a hold-out, by the numbers of users or accounts. */

import type { SharedLedger } from "../../ledger/ledger.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { membersOfAccounts } from "./members-of-accounts.ts";

/** The last day as a control, by number. A user of an account that is a control is a control as well. */
export type Controls = ReadonlyMap<number, number>;

interface Stores {
  readonly ledger: Pick<SharedLedger, "alerts">;
  readonly warehouse: Warehouse;
}

/** The controls of a day, in the organization's timezone. @throws WarehouseError */
export async function controlsOn(
  { ledger, warehouse }: Stores,
  organization: number,
  kind: EntityKind,
  day: number,
): Promise<Controls> {
  const all = await ledger.alerts.controls(organization, day);
  const of = (wanted: EntityKind) =>
    new Map(all.flatMap((one) => (one.kind === wanted ? [[one.number, one.untilDay] as const] : [])));
  const accounts = of("account");
  if (kind === "account") return accounts;
  const users = of("user");
  for (const { user, account } of await membersOfAccounts(warehouse, organization, [...accounts.keys()])) {
    users.set(user, Math.max(users.get(user) ?? 0, accounts.get(account) ?? 0));
  }
  return users;
}
