/**
 * The key by which users are found by their e-mail address. It is equal for upper and lower case. Ledgers
 * store it beside the address, because databases fold other letters than JavaScript: SQLite folds only ASCII.
 */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
