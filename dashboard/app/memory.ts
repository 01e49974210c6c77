/** The choices that this browser remembers for its reader. Without storage they are not kept, and no page
 * fails. And what an open page remembers of the places of its history. */

/** Remembers a text under a name, or forgets it. */
export function remember(name: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // Storage is switched off or full. The choice lasts until the page is left.
  }
}

/** The text that was remembered under a name. */
export function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

const maxPlaces = 100;

/** Keeps a value for a place of the history, and drops those of the oldest places. */
export function keepNewest<Value>(values: Map<string, Value>, place: string, value: Value): void {
  values.delete(place);
  values.set(place, value);
  for (const oldest of values.keys()) {
    if (values.size <= maxPlaces) break;
    values.delete(oldest);
  }
}
