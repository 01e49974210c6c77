/** Where the focus is when a page is gone to: on the page, or, when one comes back, on the link by which one left. */
import { useLocation } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef } from "react";

/** How long a link is looked for that is not on the page yet: rows come with an answer. */
const patienceMs = 5_000;
/** Places of the history whose links are remembered. */
const maxPlaces = 100;

/** A link, and the row of a table in which it was. */
interface Left {
  readonly href: string;
  readonly row: string | undefined;
}

/** Moves the focus with the address, so that a keyboard and a screen reader go on where they are. @param main the page */
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
      left.current.delete(place);
      left.current.set(place, {
        href: link.getAttribute("href") ?? "",
        row: link.closest<HTMLElement>("tr[data-index]")?.dataset.index,
      });
      for (const [oldest] of left.current) {
        if (left.current.size <= maxPlaces) break;
        left.current.delete(oldest);
      }
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

/** Focuses a link as soon as it is on the page, unless the focus has been moved meanwhile. @returns stops waiting */
function focusWhenThere(main: HTMLElement, { href, row }: Left): () => void {
  const observer = new MutationObserver(() => look());
  const timer = setTimeout(() => observer.disconnect(), patienceMs);
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
  };
  const look = () => {
    const isMoved = document.activeElement !== main && document.activeElement !== document.body;
    const links = [...main.querySelectorAll<HTMLElement>(`a[href="${CSS.escape(href)}"]`)];
    const link =
      links.find((one) => one.closest<HTMLElement>("tr[data-index]")?.dataset.index === row) ?? links[0];
    if (link !== undefined && !isMoved) link.focus({ preventScroll: true });
    if (link !== undefined || isMoved) stop();
  };
  observer.observe(main, { childList: true, subtree: true });
  look();
  return stop;
}
