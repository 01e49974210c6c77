/** The keyboard in a table: arrows go from row to row, by the first link or button of each, so that Enter
 * opens it. */
import { useLocation } from "@tanstack/react-router";
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import { keepNewest } from "../../app/memory.ts";

/** Rows that a page key passes. */
const pageRows = 12;
/** The last row with the focus, by the place of the history and the table. */
const keptRows = new Map<string, number>();

/**
 * The handler of keys for whatever scrolls the rows, which are `tr[data-index]`.
 * @param rows how many there are
 * @param scrollsItself whether `show` has scrolled, which the browser would undo
 * @param show brings a row into sight, and draws it if need be
 */
export function useRowKeys(
  scroller: RefObject<HTMLElement | null>,
  rows: number,
  show: (index: number) => void,
  scrollsItself: boolean,
): (event: KeyboardEvent) => void {
  const wanted = useRef<number>(undefined);
  const focus = () => {
    if (wanted.current === undefined) return;
    const row = scroller.current?.querySelector(`tr[data-index="${wanted.current}"]`);
    const link = row?.querySelector<HTMLElement>("a, button");
    if (link == null) return;
    wanted.current = undefined;
    link.focus({ preventScroll: scrollsItself });
  };
  // After every drawing: a row out of sight is drawn only by the next one.
  useEffect(focus);
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement)) return;
    // A field in a row has these keys for itself.
    if (event.target.matches("input, select, textarea")) return;
    const next = rowAfter(event.key, rowIndexOf(event.target), rows);
    if (next === undefined) return;
    event.preventDefault();
    wanted.current = next;
    show(next);
    focus();
  };
}

/**
 * The row with the focus, which is drawn out of sight, too: it would lose the focus. Each place of the
 * history has its own, and shows it drawn again after Back.
 * @param table the name of its table
 */
export function useKeptRow(
  table: string,
): [kept: number | undefined, keep: (row: number | undefined) => void] {
  const { state } = useLocation();
  const place = `${state.__TSR_key ?? ""} ${table}`;
  const [kept, setKept] = useState(() => keptRows.get(place));
  const keep = (row: number | undefined) => {
    setKept(row);
    if (row === undefined) keptRows.delete(place);
    else keepNewest(keptRows, place, row);
  };
  return [kept, keep];
}

/** The row in which an element is. */
export function rowIndexOf(element: Element): number | undefined {
  const row = element.closest<HTMLElement>("tr[data-index]");
  return row === null ? undefined : Number(row.dataset.index);
}

function rowAfter(key: string, at: number | undefined, rows: number): number | undefined {
  if (rows === 0) return undefined;
  if (at === undefined) return key === "ArrowDown" ? 0 : undefined;
  const steps: Readonly<Record<string, number>> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + pageRows,
    PageUp: at - pageRows,
    Home: 0,
    End: rows - 1,
  };
  const next = steps[key];
  return next === undefined ? undefined : Math.min(rows - 1, Math.max(0, next));
}
