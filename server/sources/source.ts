/** What every connected source has: a name, and a translation of what it sends. One small file each, its mapping a table. */
import type { SourcedItem } from "../intake/intake.ts";

/** All that a translation knows beside the body. */
export interface Delivery {
  readonly receivedAtMs: number;
}

/** What became of one item of a body: what it says, why it cannot be taken, or why it says nothing to us. The last of
 * `items` is what the item is about, and its outcome the item's; those before are what it says beside. */
export type Translated =
  | { readonly items: readonly SourcedItem[] }
  | { readonly invalid: string }
  | { readonly ignored: string };

/** One item as it was sent, for those who watch, and its translation. */
export interface TranslatedItem {
  readonly sent: unknown;
  readonly translated: Translated;
}
