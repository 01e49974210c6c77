/** The question at "Handled": what came of it. */
import { type FormEvent, type ReactElement, useState } from "react";
import { ruleLimits, type WorkOutcome, workOutcomes } from "../../../contract/alerts/rules.ts";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { TextArea } from "../../parts/form/field.tsx";
import { outcomeWords } from "./alert-words.ts";

/** What is said with "Handled". The note is left out when it stays as it is. */
export interface Handling {
  readonly verdict: "handled";
  readonly outcome: WorkOutcome | null;
  readonly note?: string | null;
}

interface OutcomeDialogProps {
  readonly name: string;
  /** The note of the alert so far. */
  readonly note: string | null;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onHandled: (handling: Handling) => void;
}

export function OutcomeDialog({ name, note, isOpen, onClose, onHandled }: OutcomeDialogProps): ReactElement {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={`What came of it: ${name}`}>
      <OutcomeForm
        before={note ?? ""}
        onClose={onClose}
        onHandled={(handling) => {
          onClose();
          onHandled(handling);
        }}
      />
    </Dialog>
  );
}

interface FormProps extends Pick<OutcomeDialogProps, "onClose" | "onHandled"> {
  /** The note so far. */
  readonly before: string;
}

function OutcomeForm({ before, onClose, onHandled }: FormProps): ReactElement {
  const [outcome, setOutcome] = useState<WorkOutcome | null>(null);
  const [note, setNote] = useState(before);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const text = note.trim();
    onHandled({ verdict: "handled", outcome, ...(text !== before && { note: text === "" ? null : text }) });
  };
  return (
    <form onSubmit={save} className="grid gap-4">
      <fieldset className="flex flex-wrap gap-x-4 gap-y-2">
        <legend className="sr-only">Outcome</legend>
        {workOutcomes.map((value) => (
          <label key={value} className="flex cursor-pointer items-center gap-1.5">
            <input
              type="radio"
              name="outcome"
              checked={outcome === value}
              onChange={() => setOutcome(value)}
            />
            {outcomeWords[value]}
          </label>
        ))}
      </fieldset>
      <TextArea
        label="Note"
        isProse
        rows={3}
        maxLength={ruleLimits.alertNoteCharacters}
        value={note}
        onText={setNote}
      />
      <div className="flex gap-2">
        <Button type="submit" look="primary">
          Mark as handled
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}
