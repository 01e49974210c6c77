/** A secret that the server shows only once. */
import type { ReactElement } from "react";
import { Code } from "../copy.tsx";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { useUnsaved } from "./unsaved.ts";

/** Shows a secret with its button to copy it. Undefined shows nothing. Only the button at the end closes it,
 * and leaving the page asks first. The server cannot show the secret again. */
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
  useUnsaved(secret !== undefined, {
    title: "Leave without the secret?",
    text: "It is shown only once. If you have not copied it, you need to create another.",
    action: "Leave without it",
    isDangerous: true,
  });
  return (
    <Dialog isOpen={secret !== undefined} onClose={onDone} title={title} description={description} isHeld>
      <Code label={title} text={secret ?? ""} />
      <div className="mt-4 flex justify-end">
        <Button look="primary" onClick={onDone}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
