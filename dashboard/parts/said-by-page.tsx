/** What a page said with a browser token, which everybody can read there: it may be false. */
import type { ReactElement } from "react";

interface SaidByPageProps {
  /** `saidByPages` of the user or the account. */
  readonly fields: readonly string[];
  readonly field: string;
  /** What it says it of, where that does not stand before it: "name". */
  readonly of?: string;
}

/** Stands beside a value. Nothing is drawn beside what a server said. */
export function SaidByPage({ fields, field, of }: SaidByPageProps): ReactElement | null {
  if (!fields.includes(field)) return null;
  return (
    <span
      title="Sent by a browser token, which everybody can read in the page. A value from your server takes its place."
      className="text-xs text-soft"
    >
      {of === undefined ? "" : `${of} `}said by a page
    </span>
  );
}
