/** A secret that the server tells one time only. */
import type { ReactElement } from "react";
import { Button } from "./button.tsx";
import { Code } from "./copy.tsx";
import { Dialog } from "./dialog.tsx";

/** Shows a secret with its button to copy it; undefined shows nothing. */
export function ShownOnce({
  title,
  description,
  secret,
  onDone,
}: {
  title: string;
  description: string;
  secret: string | undefined;
  onDone: () => void;
}): ReactElement {
  return (
    <Dialog isOpen={secret !== undefined} onClose={onDone} title={title} description={description}>
      <Code label={title} text={secret ?? ""} />
      <div className="mt-4 flex justify-end">
        <Button look="primary" onClick={onDone}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}
