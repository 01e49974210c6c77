/** What may be larger than its place. It can be reached and scrolled by keyboard, which is why it has a name. */
import type { ReactElement, ReactNode, Ref } from "react";

export function Scrollable({
  label,
  className,
  children,
  ref,
}: {
  label: string;
  className?: string;
  children: ReactNode;
  ref?: Ref<HTMLElement>;
}): ReactElement {
  return (
    <section
      ref={ref}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it a keyboard could not scroll
      tabIndex={0}
      className={className}
    >
      {children}
    </section>
  );
}
