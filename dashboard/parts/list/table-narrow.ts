/** Tables on a narrow screen: the column that rows are sorted by stands beside the first, where it is
 * seen. */
import { useSyncExternalStore } from "react";

/** As wide as style sheets have it where `sm` begins. */
const narrow = matchMedia("(max-width: 639.98px)");

function subscribe(listener: () => void): () => void {
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

/** Whether the window is as narrow as a phone. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

/** Columns or cells in their order, but for the one with this id, which comes second. */
export function inNarrowOrder<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  second: string | undefined,
): readonly Item[] {
  const at = items.findIndex((item) => idOf(item) === second);
  const [first, moved] = [items[0], items[at]];
  if (at < 2 || first === undefined || moved === undefined) return items;
  return [first, moved, ...items.slice(1, at), ...items.slice(at + 1)];
}
