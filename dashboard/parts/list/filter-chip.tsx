/** A filter that is set. */
import type { ReactElement } from "react";
import { Icon } from "../icons.tsx";

/** A set filter, with a button that removes it. */
export function FilterChip({ text, onRemove }: { text: string; onRemove: () => void }): ReactElement {
  return (
    <span className="inline-flex h-8 max-w-72 min-w-0 items-center gap-1 rounded border border-ember bg-raised pl-2.5 text-sm font-medium">
      <span className="truncate">{text}</span>
      <button
        type="button"
        aria-label={`Remove the filter ${text}`}
        onClick={onRemove}
        className="grid size-8 shrink-0 place-items-center rounded text-soft hover:text-ink"
      >
        <Icon name="close" size={13} />
      </button>
    </span>
  );
}
