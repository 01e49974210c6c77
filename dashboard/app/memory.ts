/** What this browser remembers for its reader. Without storage nothing is remembered, and nothing breaks. */

/** Remembers a text under a name, or forgets it. */
export function remember(name: string, text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // Storage is switched off or full; what is chosen holds until the page is left.
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
