/** The question before something that cannot be undone. It is loaded when the first one is asked. */
import { AlertDialog } from "radix-ui";
import type { ReactElement } from "react";
import { classes } from "../../text/classes.ts";
import { Button } from "./button.tsx";
import { box, centred, veil } from "./dialog.tsx";

export interface Question {
  readonly title: string;
  /** The effect of confirming, and whether it can be undone. */
  readonly text: string;
  /** The button's own word for it: "Revoke the token". */
  readonly action: string;
  readonly isDangerous?: boolean;
  /** A box that can be ticked before answering. */
  readonly option?: { readonly label: string; onChange(isTicked: boolean): void };
}

export default function ConfirmDialog({
  question,
  onAnswer,
}: {
  question: Question;
  onAnswer: (is: boolean) => void;
}): ReactElement {
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onAnswer(false)}>
      <AlertDialog.Portal>
        <div className={veil} data-modal="" aria-hidden="true" />
        <AlertDialog.Content aria-modal="true" className={classes(box, centred, "p-5")}>
          <AlertDialog.Title className="text-lg">{question.title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-1 text-soft">{question.text}</AlertDialog.Description>
          {question.option !== undefined && (
            <label className="mt-4 flex items-center gap-2">
              <input type="checkbox" onChange={({ target }) => question.option?.onChange(target.checked)} />
              {question.option.label}
            </label>
          )}
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button look={question.isDangerous ? "danger" : "primary"} onClick={() => onAnswer(true)}>
              {question.action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
