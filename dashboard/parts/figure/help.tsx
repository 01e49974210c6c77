/** What a figure means, behind a question mark. */
import type { ReactElement, ReactNode } from "react";
import { Popover } from "../menu.tsx";

interface HelpProps {
  /** What is explained: "Health of accounts". */
  readonly about: string;
  readonly children: ReactNode;
  readonly isOpen?: boolean;
  readonly onOpenChange?: (open: boolean) => void;
}

/** A button with a question mark, and the explanation that it opens. */
export function Help({ about, children, ...open }: HelpProps): ReactElement {
  return (
    <Popover
      label={about}
      trigger={
        <button
          type="button"
          aria-label={`What is meant: ${about}`}
          className="grid size-8 place-items-center rounded-full border border-line text-sm text-soft hover:border-ink hover:text-ink"
        >
          ?
        </button>
      }
      {...open}
    >
      <div className="grid gap-2 text-sm">{children}</div>
    </Popover>
  );
}
