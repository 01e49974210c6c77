/** A button for one more filter of a list, and the form that it opens. */
import { type FormEvent, type ReactElement, type ReactNode, useState } from "react";
import { Button } from "../form/button.tsx";
import { Popover } from "../menu.tsx";

interface FilterPopoverProps {
  /** On the button: "Event". */
  readonly name: string;
  /** What the form does: "Filter by an event". */
  readonly label: string;
  /** The form. @param close closes it */
  readonly children: (close: () => void) => ReactNode;
}

export function FilterPopover({ name, label, children }: FilterPopoverProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      label={label}
      isOpen={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button isSmall icon="plus" className="h-8! justify-self-start">
          {name}
        </Button>
      }
    >
      {children(() => setOpen(false))}
    </Popover>
  );
}

interface FilterFormProps {
  /** What the list shows: "users". */
  readonly rows: string;
  readonly onSend: () => void;
  /** Its fields. */
  readonly children: ReactNode;
}

export function FilterForm({ rows, onSend, children }: FilterFormProps): ReactElement {
  const send = (event: FormEvent) => {
    event.preventDefault();
    onSend();
  };
  return (
    <form onSubmit={send} className="grid gap-3">
      {children}
      <Button type="submit" look="primary" isSmall>
        Show these {rows}
      </Button>
    </form>
  );
}
