/** Asks for a name, and shows what the server says against it. */
import { type FormEvent, type ReactElement, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { FormError, Input } from "./field.tsx";

export function NameDialog({
  title,
  about,
  action,
  name,
  change,
  onName,
  onClose,
}: {
  title: string;
  about: string;
  action: string;
  name: string;
  /** The request that stores the name. */
  change: { readonly isPending: boolean; readonly error: Error | null };
  onName: (name: string) => void;
  onClose: () => void;
}): ReactElement {
  const [text, setText] = useState(name);
  const send = (event: FormEvent) => {
    event.preventDefault();
    onName(text.trim());
  };
  return (
    <Dialog isOpen onClose={onClose} title={title} description={about}>
      <form onSubmit={send} className="grid gap-4">
        <Input
          label="Name"
          required
          maxLength={80}
          pattern=".*\S.*"
          autoComplete="off"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <FormError error={change.error} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" isBusy={change.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
