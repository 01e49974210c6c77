/** The question at "Handled": what came of it. */
import { type FormEvent, type ReactElement, useState } from "react";
import { ruleLimits, type WorkOutcome, workOutcomes } from "../../../contract/alerts/rules.ts";
import { Button } from "../../parts/form/button.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { TextArea } from "../../parts/form/field.tsx";
import { outcomeWords } from "./alert-words.ts";

/** What is said with "Handled". Without an outcome the note is sent alone. */
export interface Handling {
  readonly verdict: "handled";
  readonly outcome: WorkOutcome | null;
  readonly note?: string;
}

interface OutcomeDialogProps {
  readonly name: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onHandled: (handling: Handling) => void;
}

export function OutcomeDialog({ name, isOpen, onClose, onHandled }: OutcomeDialogProps): ReactElement {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={`What came of it: ${name}`}>
      <OutcomeForm
        onHandled={(handling) => {
          onClose();
          onHandled(handling);
        }}
      />
    </Dialog>
  );
}

function OutcomeForm({ onHandled }: Pick<OutcomeDialogProps, "onHandled">): ReactElement {
  const [outcome, setOutcome] = useState<WorkOutcome | null>(null);
  const [note, setNote] = useState("");
  const save = (event: FormEvent) => {
    event.preventDefault();
    const text = note.trim();
    onHandled({ verdict: "handled", outcome, ...(text !== "" && { note: text }) });
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
      <div>
        <Button type="submit" look="primary">
          Handled
        </Button>
      </div>
    </form>
  );
}
