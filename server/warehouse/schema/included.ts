/**
 * The one way in which figures leave out excluded users (internal, test or bot): every figure about people counts
 * `included(…)`. Queries need the parameter `organization`.
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

/** The condition that a user's number is excluded, for rows that are subtracted from a sum over all users. In a table
 * ordered by user it reads only these users' rows. */
export function isExcluded(user: string): string {
  return `${user} IN (SELECT arrayJoin(bitmapToArray(${excluded})))`;
}
