/** A row of the list of sources: name, state and set-up of a tool that can send. */
import type { ReactElement, ReactNode } from "react";
import { Button } from "../../parts/form/button.tsx";
import { Icon } from "../../parts/icons.tsx";
import { type Entry, entryName } from "./entries.ts";
import { type NewTokens, SetUp } from "./set-up.tsx";

/** The list's state, which all rows share. */
export interface ListState {
  /** The entry whose set-up is open. */
  readonly open: string;
  readonly onOpen: (entry: Entry | "") => void;
  readonly tokens: NewTokens;
  readonly onToken: (made: NewTokens) => void;
}

interface RowProps {
  readonly entry: Entry;
  readonly list: ListState;
  readonly badge: ReactNode;
  /** Its state in one line. */
  readonly story: ReactNode;
  /** Before the button of the set-up. */
  readonly action?: ReactNode;
  /** Its amounts. */
  readonly children?: ReactNode;
}

export function Row({ entry, list, badge, story, action, children }: RowProps): ReactElement {
  const name = entryName(entry);
  const id = `source-${entry}`;
  const isOpen = list.open === entry;
  return (
    <li className="border-b border-line px-4 py-3 last:border-0">
      <div className="grid grid-cols-[minmax(0,1fr)] items-center gap-x-6 gap-y-2 lg:grid-cols-[minmax(0,1fr)_auto_10.5rem]">
        <div className="min-w-0">
          <h3 className="flex flex-wrap items-center gap-x-2 text-base font-medium">
            {name} {badge}
          </h3>
          <p className="text-sm text-soft">{story}</p>
        </div>
        {children}
        <div className="flex flex-wrap gap-2 lg:col-start-3 lg:justify-end">
          {action}
          <Button
            isSmall
            aria-expanded={isOpen}
            aria-controls={id}
            aria-label={isOpen ? `Close the set-up of ${name}` : `Set up ${name}`}
            onClick={() => list.onOpen(isOpen ? "" : entry)}
          >
            Set up
            <Icon name={isOpen ? "up" : "down"} size={13} />
          </Button>
        </div>
      </div>
      {isOpen && (
        <div id={id} className="mt-4">
          <SetUp entry={entry} tokens={list.tokens} onToken={list.onToken} />
        </div>
      )}
    </li>
  );
}
