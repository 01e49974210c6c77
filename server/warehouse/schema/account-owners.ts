/** The user whose traits are an account's: accounts have none of their own. */

/** A subquery (account, owner) of all accounts with users: the owner, else the newest user. It binds
 * `organization`. */
export const accountOwners = `(
  SELECT account, if(countIf(is_account_owner) > 0, minIf(user, is_account_owner), max(user)) AS owner
  FROM users FINAL WHERE organization = {organization:UInt32} AND account != 0 GROUP BY account)`;
