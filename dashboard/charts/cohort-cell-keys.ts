/** The keys of a cohort grid: arrows move between its cells, Home and End within a row, Enter picks a
 * cell. */
import type { KeyboardEvent, MouseEvent } from "react";

/** A cell: its row's name and its column, the periods after a cohort's own. Column -1 is the row's header. */
export interface Spot {
  readonly row: string;
  readonly column: number;
}

/** The cell in which an element is. Undefined outside of the cells. */
export function spotOf(target: EventTarget): Spot | undefined {
  const cell = cellOf(target);
  const row = cell?.closest<HTMLElement>("tr[data-row]")?.dataset.row;
  return cell === undefined || row === undefined ? undefined : { row, column: Number(cell.dataset.column) };
}

function cellOf(target: EventTarget): HTMLElement | undefined {
  return target instanceof Element ? (target.closest<HTMLElement>("[data-column]") ?? undefined) : undefined;
}

/** The table's handlers. */
export function useGridKeys({ onPick, onEscape }: { onPick: (spot: Spot) => void; onEscape: () => void }) {
  const pick = ({ target }: { readonly target: EventTarget }) => {
    const spot = spotOf(target);
    if (spot !== undefined && spot.column >= 0) onPick(spot);
    return spot;
  };
  return {
    onClick: (event: MouseEvent<HTMLTableElement>) => void pick(event),
    onKeyDown: (event: KeyboardEvent<HTMLTableElement>) => {
      if (event.altKey || event.metaKey) return;
      if (event.key === "Escape") return onEscape();
      if (event.key === "Enter" || event.key === " ") {
        // The header of a group is a button and does it by itself.
        if ((spotOf(event.target)?.column ?? -1) < 0) return;
        event.preventDefault();
        pick(event);
        return;
      }
      const next = neighbour(event);
      if (next === undefined) return;
      event.preventDefault();
      next.focus();
    },
  };
}

type Press = Pick<KeyboardEvent<HTMLTableElement>, "key" | "ctrlKey" | "currentTarget" | "target">;

function neighbour({ key, ctrlKey, currentTarget, target }: Press): HTMLElement | undefined {
  const cell = cellOf(target);
  const row = cell?.closest("tr");
  if (cell === undefined || row == null) return undefined;
  const rows = [...currentTarget.querySelectorAll<HTMLTableRowElement>("tr[data-row]")];
  const at = rows.indexOf(row);
  const cells = cellsOf(row);
  const column = cells.indexOf(cell);
  const aside = (other: HTMLTableRowElement | undefined) =>
    other && nearest(other, Number(cell.dataset.column));
  switch (key) {
    case "ArrowLeft":
      return cells[column - 1];
    case "ArrowRight":
      return cells[column + 1];
    case "ArrowUp":
      return aside(rows[at - 1]);
    case "ArrowDown":
      return aside(rows[at + 1]);
    case "Home":
      return cellsOf(ctrlKey ? rows[0] : row)[0];
    case "End":
      return cellsOf(ctrlKey ? rows.at(-1) : row).at(-1);
    default:
      return undefined;
  }
}

function cellsOf(row: HTMLTableRowElement | undefined): HTMLElement[] {
  return row === undefined ? [] : [...row.querySelectorAll<HTMLElement>("[data-column]")];
}

/** The cell of a row in this column, or the last one before it. */
function nearest(row: HTMLTableRowElement, column: number): HTMLElement | undefined {
  const cells = cellsOf(row);
  return cells.findLast((cell) => Number(cell.dataset.column) <= column) ?? cells[0];
}
