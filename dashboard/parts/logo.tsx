/** The mark, a flame that still has its ember, and the name beside it. */
import type { ReactElement } from "react";

const flame =
  "M13.2 1.5c.5 3.3 2.2 5 3.9 7 1.6 1.9 2.9 3.9 2.9 6.5a8 8 0 0 1-16 0c0-3 1.5-5.2 3.4-7 .2 1.7.8 2.9 1.9 3.6-.3-3.9 1-7.5 3.9-10.1Z";

/** The mark alone. It decorates an element that contains the name. */
export function Mark({ size = 22 }: { size?: number }): ReactElement {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" className="shrink-0 text-ember">
      <path fill="currentColor" d={flame} />
      <path
        fill="none"
        stroke="var(--color-ground)"
        strokeWidth="1.8"
        strokeLinecap="round"
        d="M8.3 15.5a3.7 3.7 0 1 0 3.7-3.7"
      />
    </svg>
  );
}

/** Mark and name. */
export function Wordmark(): ReactElement {
  return (
    <span className="inline-flex items-center gap-2">
      <Mark />
      <span className="text-lg font-semibold tracking-[-0.02em]">Rekindle</span>
    </span>
  );
}
