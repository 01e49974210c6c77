/** A text to be taken elsewhere: shown whole, and copied by a button that says so. */
import { type ReactElement, useState } from "react";
import { Button } from "./form/button.tsx";
import { Scrollable } from "./list/scrollable.tsx";
import { useTell } from "./toast.tsx";

/** A button that copies a text, or what the text is when it is pressed. Where the browser forbids it, it says
 * so. */
export function CopyButton({
  text,
  label = "Copy",
}: {
  text: string | (() => string);
  label?: string;
}): ReactElement {
  const tell = useTell();
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(typeof text === "string" ? text : text());
      setCopied(true);
      tell("Copied to the clipboard.");
    } catch {
      tell.failed(
        new Error("The browser does not allow copying here: select the text and copy it yourself."),
      );
    }
  };
  return (
    <Button isSmall icon={isCopied ? "check" : "copy"} onClick={copy}>
      {label}
    </Button>
  );
}

/** A piece of code or a secret with its button. */
export function Code({ text, label }: { text: string; label: string }): ReactElement {
  return (
    <div className="grid gap-2 rounded border border-line bg-sunk p-3">
      <Scrollable label={label}>
        <pre className="overflow-x-auto font-mono text-sm break-all whitespace-pre-wrap">{text}</pre>
      </Scrollable>
      <div>
        <CopyButton text={text} />
      </div>
    </div>
  );
}
