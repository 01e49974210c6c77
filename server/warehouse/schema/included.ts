/**
 * The one way in which figures leave out excluded users (internal, test or bot): every figure about people
 * counts `included(…)`. Queries need the parameter `organization`.
 */

/** The bitmap of excluded users; empty where there is none. Read once for a query. */
const excluded = `(
  SELECT groupBitmapMergeState(users) FROM excluded_users FINAL WHERE organization = {organization:UInt32})`;

/** A bitmap of users without those who are excluded. */
export function included(bitmap: string): string {
  return `bitmapAndnot(${bitmap}, ${excluded})`;
}

/** The condition that a user's number is not excluded, where there is no bitmap. */
export function isIncluded(user: string): string {
  return `NOT bitmapContains(${excluded}, ${user})`;
}

/** Every user of whom there is a row or activity. */
const everyone = `(
  SELECT groupBitmapState(user) FROM (
    SELECT user FROM users WHERE organization = {organization:UInt32}
    UNION ALL SELECT user FROM user_spans WHERE organization = {organization:UInt32}))`;

/** A figure's query about some users only: it leaves out all others, as it leaves out excluded users.
 * @param bitmap of these users, an expression */
export function withinUsers(sql: string, bitmap: string): string {
  return sql.replaceAll(excluded, `(SELECT bitmapOr(${excluded}, bitmapAndnot(${everyone}, ${bitmap})))`);
}

/** A subquery of the accounts that have users, all of them excluded. Without excluded users no account is
 * read. */
export const accountsLeftOut = `(
  SELECT account FROM users FINAL
  WHERE organization = {organization:UInt32} AND account != 0 AND bitmapCardinality(${excluded}) > 0
  GROUP BY account HAVING countIf(NOT bitmapContains(${excluded}, user)) = 0)`;

/** The condition of rows of accounts that figures without payers have: all of them. */
export const isAnyAccount = "account > 0";

/** A figure's query about some accounts only, by `isAnyAccount`. @param bitmap of these accounts, an
 * expression */
export function withinAccounts(sql: string, bitmap: string): string {
  return sql.replaceAll(isAnyAccount, `bitmapContains(${bitmap}, account)`);
}

/** The condition that an account counts as a payer. */
export function isIncludedAccount(account: string): string {
  return `${account} NOT IN ${accountsLeftOut}`;
}

/** The condition that a payer counts: excluded users do not, nor accounts of which all users are excluded. */
export function isIncludedPayerOf(account: string, user: string): string {
  return `if(${account} != 0, ${isIncludedAccount(account)}, ${isIncluded(user)})`;
}

/** A figure's query about some payers only: accounts, and users who pay without an account. Its conditions
 * are `isIncludedAccount` and `isIncluded`. Excluded payers of the sets are left out as elsewhere.
 * @param bitmaps of these accounts and users, expressions */
export function withinPayers(
  sql: string,
  { accounts, users }: { readonly accounts: string; readonly users: string },
): string {
  const ofAccounts = `
    IN (SELECT account FROM (SELECT arrayJoin(bitmapToArray(${accounts})) AS account)
      WHERE account NOT IN ${accountsLeftOut})`;
  const ofUsers = `bitmapContains((SELECT bitmapAndnot(${users}, ${excluded})), `;
  return sql
    .split(`NOT IN ${accountsLeftOut}`)
    .map((part) => part.replaceAll(`NOT bitmapContains(${excluded}, `, ofUsers))
    .join(ofAccounts);
}

/** The condition that a user's number is excluded, for rows that are subtracted from a sum over all users. In
 * a table ordered by user it reads only these users' rows. */
export function isExcluded(user: string): string {
  return `${user} IN (SELECT arrayJoin(bitmapToArray(${excluded})))`;
}
