/** A frame for content that may be larger than it. Its name makes it reachable by keyboard, which can scroll
 * it. An edge fades when there is more behind it. */
import {
  type FocusEventHandler,
  type KeyboardEventHandler,
  type ReactElement,
  type ReactNode,
  type Ref,
  useImperativeHandle,
  useRef,
} from "react";
import { classes } from "../../text/classes.ts";
import { useFadingEdges } from "./fading-edges.ts";

export function Scrollable({
  label,
  className,
  children,
  ref,
  onKeyDown,
  onFocus,
}: {
  label: string;
  className?: string;
  children: ReactNode;
  ref?: Ref<HTMLElement>;
  onKeyDown?: KeyboardEventHandler;
  onFocus?: FocusEventHandler;
}): ReactElement {
  const own = useRef<HTMLElement>(null);
  useImperativeHandle<HTMLElement | null, HTMLElement | null>(ref, () => own.current);
  useFadingEdges(own);
  return (
    <section
      ref={own}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard could not scroll
      tabIndex={0}
      // Absolutely placed content, such as a hidden label, scrolls with it and widens no page.
      className={classes("fading-edges relative", className)}
    >
      {children}
    </section>
  );
}
