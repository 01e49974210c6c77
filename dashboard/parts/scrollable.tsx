/** What may be larger than its place. It can be reached and scrolled by keyboard, which is why it has a name. */
import type { FocusEventHandler, KeyboardEventHandler, ReactElement, ReactNode, Ref } from "react";

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
  return (
    <section
      ref={ref}
      onKeyDown={onKeyDown}
      onFocus={onFocus}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard could not scroll
      tabIndex={0}
      className={className}
    >
      {children}
    </section>
  );
}
