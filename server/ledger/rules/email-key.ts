/**
 * By what users are found whose e-mail address is known: the address without a difference of upper and lower case. Ledgers
 * store it beside the address, because databases fold other letters than JavaScript does: SQLite only those of ASCII.
 */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
