/** A change of a value that was made from an older value, put onto a newer one. */

/** Whether two values are the same JSON. */
export const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Three-way merge. Names that were added to a list or removed from it are changed in the newer value, too.
 * So are keys of an object that were changed. Any other changed value replaces the newer one.
 * @param base the value from which the change began
 * @param mine the value after the change
 * @param theirs the newer value, saved in between */
export function mergedChange<Value>(base: Value, mine: Value, theirs: Value): Value {
  return merged(base, mine, theirs) as Value;
}

function merged(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (isSame(mine, base)) return theirs;
  if (Array.isArray(base) && Array.isArray(mine) && Array.isArray(theirs)) {
    const kept = theirs.filter((one) => mine.includes(one) || !base.includes(one));
    return [...kept, ...mine.filter((one) => !base.includes(one) && !kept.includes(one))];
  }
  if (isRecord(base) && isRecord(mine) && isRecord(theirs)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
    const pairs = [...names].map((name) => [name, merged(base[name], mine[name], theirs[name])] as const);
    return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
  }
  return mine;
}

/** Whether a value is an object and no list. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
