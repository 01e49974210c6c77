/** The result of a source's translation. */
import type { SourcedItem } from "../intake/admission/sourced.ts";

/** Input of a translation beside the body. */
export interface Delivery {
  readonly receivedAtMs: number;
}

/** The translation of one item of a body, or why it is rejected or ignored. The last of `items` is the item's
 * subject, and its outcome is the item's. Those before it are additional facts, such as traits beside an
 * event. */
export type Translated =
  | { readonly items: readonly SourcedItem[] }
  | { readonly invalid: string }
  | { readonly ignored: string; readonly isTestMode?: true };

/** One item as it was sent, for the live view, and its translation. */
export interface TranslatedItem {
  readonly sent: unknown;
  readonly translated: Translated;
}
