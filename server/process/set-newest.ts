/** Maps of a bounded size, in the order in which keys were set last. */

/** Sets a key as the newest, and drops the oldest keys past the bound. */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= most) break;
    map.delete(oldest);
  }
}
