/** How many there are, in words: "1 account", "3 accounts". @param thing in the singular, with a plural that
 * ends with s */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? "" : "s"}`;
}
