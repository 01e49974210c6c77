/** The dialog of a task: a new one, or one that is changed. */
import { type FormEvent, type ReactElement, useState } from "react";
import { workLimits } from "../../../contract/notes-and-tasks.ts";
import { type Reads, useChange } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { DayInput } from "../../parts/form/day-input.tsx";
import { Dialog } from "../../parts/form/dialog.tsx";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { useTell } from "../../parts/toast.tsx";
import { useMemberChoices, withChoice } from "./members.ts";

/** A task as the API answers it. */
export type Task = Reads["/api/tasks"]["answer"]["tasks"][number];

/** A user or an account. */
export interface Entity {
  readonly kind: "user" | "account";
  readonly id: string;
}

interface TaskDialogProps {
  /** Undefined for a new one. */
  readonly task: Task | undefined;
  readonly entity: Entity;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function TaskDialog({ task, entity, isOpen, onClose }: TaskDialogProps): ReactElement {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={task === undefined ? "Add task" : "Change task"}>
      <TaskForm task={task} entity={entity} onDone={onClose} />
    </Dialog>
  );
}

function TaskForm({
  task,
  entity,
  onDone,
}: Pick<TaskDialogProps, "task" | "entity"> & { onDone: () => void }): ReactElement {
  const [title, setTitle] = useState(task?.title ?? "");
  const [due, setDue] = useState(task?.due ?? "");
  const [assignee, setAssignee] = useState(task?.assignee ? String(task.assignee.id) : "");
  const members = useMemberChoices();
  const tell = useTell();
  const ofUser = useChange("POST /api/users/:userId/tasks");
  const ofAccount = useChange("POST /api/accounts/:accountId/tasks");
  const change = useChange("PATCH /api/tasks/:id");
  const errors = fieldErrors(ofUser.error ?? ofAccount.error ?? change.error, ["title", "due", "assignee"]);
  const isBusy = ofUser.isPending || ofAccount.isPending || change.isPending;
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    const body = {
      title,
      due: due === "" ? null : due,
      assignee: assignee === "" ? null : Number(assignee),
    };
    const done = {
      onSuccess: () => {
        tell(task === undefined ? "The task is added." : "The task is saved.");
        onDone();
      },
    };
    if (task !== undefined) change.mutate({ path: { id: task.id }, body }, done);
    else if (entity.kind === "user") ofUser.mutate({ path: { userId: entity.id }, body }, done);
    else ofAccount.mutate({ path: { accountId: entity.id }, body }, done);
  };
  const former = task?.assignee?.name ?? "A former team member";
  return (
    <form onSubmit={save} className="grid gap-4">
      <Input
        label="Title"
        required
        maxLength={workLimits.taskTitleCharacters}
        autoComplete="off"
        value={title}
        onChange={({ target }) => setTitle(target.value)}
        error={errors.of("title")}
      />
      <div className="grid gap-x-4 gap-y-3 sm:grid-cols-2">
        <DayInput
          label="Due"
          value={due === "" ? undefined : due}
          onDay={(day) => setDue(day ?? "")}
          help="Leave empty for any day."
          error={errors.of("due")}
        />
        <Select
          label="Assignee"
          value={assignee}
          choices={withChoice([{ value: "", label: "Nobody" }, ...members], assignee, former)}
          onChoose={setAssignee}
          error={errors.of("assignee")}
        />
      </div>
      <FormError error={errors.rest} />
      <div className="flex gap-2">
        <Button type="submit" look="primary" isBusy={isBusy}>
          {task === undefined ? "Add task" : "Save"}
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </form>
  );
}
