/** Attributes of accounts that have a meaning, by the names that readers see. */

const names: Readonly<Record<string, string>> = {
  owner: "Owner",
  renewsAt: "Renews",
  contractValue: "Contract value",
};

/** The name of an attribute; its key for one without a meaning. */
export function attributeName(key: string): string {
  return Object.hasOwn(names, key) ? (names[key] ?? key) : key;
}
