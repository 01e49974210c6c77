/** Who was in an experiment, as the training of models asks for it. */
import type { SharedLedger } from "../../../ledger/ledger.ts";
import type { Entered, ReadEntered } from "../../../scoring/churn/entered.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { EnteredRow } from "./results-store.ts";

/** Days of one statement: a rule may fire a thousand alerts a day. */
const daysTogether = 14;

/** Makes the reader. An alert about an account is about its users of today, too; an alert about a user is
 * about the account that was drawn for it. */
export function enteredReader(
  warehouse: Warehouse,
  { holdOutResults }: Pick<SharedLedger, "holdOutResults">,
): ReadEntered {
  return async ({ organization, kind }, fromDay, toDay) => {
    const rows: EnteredRow[] = [];
    for (let day = fromDay; day < toDay; day += daysTogether)
      rows.push(...(await holdOutResults.entered(organization, day, Math.min(toDay, day + daysTogether))));
    if (kind === "account")
      return rows.flatMap((row) => (row.account > 0 ? [enteredOf(row, row.account)] : []));
    const ofAccounts = rows.filter(({ user }) => user === 0);
    const members = await membersOf(warehouse, organization, [
      ...new Set(ofAccounts.map(({ account }) => account)),
    ]);
    return rows.flatMap((row) => {
      const users = row.user > 0 ? [row.user] : (members.get(row.account) ?? []);
      return users.map((user) => enteredOf(row, user));
    });
  };
}

function enteredOf({ day, rule, experiment, arm, share }: EnteredRow, entity: number): Entered {
  return { entity, day, arm, share, experiment: `${rule} ${experiment}` };
}

async function membersOf(
  warehouse: Warehouse,
  organization: number,
  accounts: readonly number[],
): Promise<ReadonlyMap<number, readonly number[]>> {
  if (accounts.length === 0) return new Map();
  const rows = await warehouse.rows<{ readonly account: number; readonly users: readonly number[] }>(
    `SELECT account, groupArray(user) AS users FROM users FINAL
     WHERE organization = {organization:UInt32} AND account IN {accounts:Array(UInt32)} GROUP BY account`,
    { organization, accounts },
  );
  return new Map(rows.map(({ account, users }) => [account, users]));
}
