/** The dialog of an alert: assignee, snooze and note. */
import { type FormEvent, type ReactElement, useState } from "react";
import { ruleLimits } from "../../../contract/alerts/rules.ts";
import { useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { DayInput } from "../../parts/form/day-input.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { FormError, Select, TextArea } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { useToday } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { dayPlus } from "../../text/format.ts";
import { useMemberChoices, withChoice } from "../tasks/members.ts";
import type { Alert } from "./alert-words.ts";

interface AlertDialogProps {
  readonly alert: Alert;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function AlertDialog({ alert, isOpen, onClose }: AlertDialogProps): ReactElement {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title="Change alert">
      <AlertForm alert={alert} onDone={onClose} />
    </Dialog>
  );
}

function AlertForm({ alert, onDone }: { alert: Alert; onDone: () => void }): ReactElement {
  const [assignee, setAssignee] = useState(alert.assignee ? String(alert.assignee.id) : "");
  const [snoozedUntil, setSnoozedUntil] = useState(alert.snoozedUntil ?? "");
  const [note, setNote] = useState(alert.note ?? "");
  const members = useMemberChoices();
  const today = useToday();
  const tell = useTell();
  const change = useChange("PATCH /api/alerts/:id");
  const errors = fieldErrors(change.error, ["assignee", "snoozedUntil"]);
  const save = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      assignee: assignee === "" ? null : Number(assignee),
      snoozedUntil: snoozedUntil === "" ? null : snoozedUntil,
      note: note.trim() === "" ? null : note.trim(),
    };
    const onSuccess = () => {
      tell("The alert is saved.");
      onDone();
    };
    change.mutate({ path: { id: alert.id }, body }, { onSuccess });
  };
  const former = alert.assignee?.name ?? "A former team member";
  return (
    <form onSubmit={save} className="grid gap-4">
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
        <Select
          label="Assignee"
          value={assignee}
          choices={withChoice([{ value: "", label: "Nobody" }, ...members], assignee, former)}
          onChoose={setAssignee}
          error={errors.of("assignee")}
        />
        <DayInput
          label="Snoozed until"
          min={alert.snoozedUntil === null ? dayPlus(today, 1) : undefined}
          value={snoozedUntil === "" ? undefined : snoozedUntil}
          onDay={(day) => setSnoozedUntil(day ?? "")}
          help="The alert is open again on this day."
          error={errors.of("snoozedUntil")}
        />
      </div>
      <TextArea
        label="Note"
        isProse
        rows={3}
        maxLength={ruleLimits.alertNoteCharacters}
        value={note}
        onText={setNote}
      />
      <FormError error={errors.rest} />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={change.isPending}>
          Save
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
