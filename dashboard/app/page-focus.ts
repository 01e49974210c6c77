/** Where the focus is when a page is gone to: on the page, or, when one comes back, on the link by which one
 * left. */
import { useLocation } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef } from "react";
import { keepNewest } from "./memory.ts";

/** A link, and the row of a table in which it was. */
interface Left {
  readonly href: string;
  readonly row: string | undefined;
}

/** Moves the focus with the address, so that a keyboard and a screen reader go on where they are. @param main
 * the page */
export function usePageFocus(main: RefObject<HTMLElement | null>): void {
  const { pathname, state } = useLocation();
  const place = state.__TSR_key ?? "";
  const left = useRef(new Map<string, Left>());
  const shown = useRef(pathname);
  useEffect(() => {
    const element = main.current;
    const onClick = ({ target }: MouseEvent) => {
      const link = target instanceof Element ? target.closest("a[href]") : null;
      if (link === null) return;
      keepNewest(left.current, place, {
        href: link.getAttribute("href") ?? "",
        row: link.closest<HTMLElement>("tr[data-index]")?.dataset.index,
      });
    };
    element?.addEventListener("click", onClick, { capture: true });
    return () => element?.removeEventListener("click", onClick, { capture: true });
  }, [main, place]);
  useEffect(() => {
    if (shown.current === pathname) return undefined;
    shown.current = pathname;
    const element = main.current;
    element?.focus({ preventScroll: true });
    const wanted = left.current.get(place);
    return wanted === undefined || element === null ? undefined : focusWhenThere(element, wanted);
  }, [main, pathname, place]);
}

/** Focuses a link as soon as it is on the page, which is after an answer for a row of a list. Stops when the
 * reader does something first. @returns stops waiting */
function focusWhenThere(main: HTMLElement, { href, row }: Left): () => void {
  const waiting = new AbortController();
  const observer = new MutationObserver(() => look());
  const stop = () => {
    waiting.abort();
    observer.disconnect();
  };
  const look = () => {
    const isMoved = document.activeElement !== main && document.activeElement !== document.body;
    const links = [...main.querySelectorAll<HTMLElement>(`a[href="${CSS.escape(href)}"]`)];
    const link =
      links.find((one) => one.closest<HTMLElement>("tr[data-index]")?.dataset.index === row) ?? links[0];
    // This scrolls only to a link out of sight: rows may have come too late for the place to be restored.
    if (link !== undefined && !isMoved) link.focus();
    if (link !== undefined || isMoved) stop();
  };
  observer.observe(main, { childList: true, subtree: true });
  for (const act of ["keydown", "pointerdown", "wheel"]) {
    document.addEventListener(act, stop, { capture: true, signal: waiting.signal });
  }
  look();
  return stop;
}
