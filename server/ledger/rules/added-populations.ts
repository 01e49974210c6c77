/** A transaction's additions to the totals of organizations: new users and accounts, and their versions. */
import type { Populations } from "../health.ts";
import type { Stored, Writes } from "../transact.ts";

export type AddedPopulations = Omit<Populations, "versionRows" | "accountVersionRows">;

/** By organization. Organizations without a written user or account are left out. */
export function addedPopulations(
  { users, accounts }: Pick<Writes, "users" | "accounts">,
  stored: Pick<Stored, "user" | "account">,
): ReadonlyMap<number, AddedPopulations> {
  const added = new Map<number, { -readonly [Total in keyof AddedPopulations]: number }>();
  const totalsOf = (organization: number) => {
    const totals = added.get(organization) ?? { users: 0, userVersions: 0, accounts: 0, accountVersions: 0 };
    added.set(organization, totals);
    return totals;
  };
  for (const { organization, accountId, version } of accounts) {
    const previous = stored.account(organization, accountId);
    const totals = totalsOf(organization);
    if (previous === undefined) totals.accounts += 1;
    totals.accountVersions += version - (previous?.version ?? 0);
  }
  for (const { organization, userId, version } of users) {
    const previous = stored.user(organization, userId);
    const totals = totalsOf(organization);
    if (previous === undefined) totals.users += 1;
    totals.userVersions += version - (previous?.version ?? 0);
  }
  return added;
}
