/** A task in a list: it is marked as done by its box, and changed or deleted by its buttons. */
import { type ReactElement, useState } from "react";
import { useChange } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { classes } from "../../text/classes.ts";
import { dayText } from "../../text/format.ts";
import { type Task, TaskDialog } from "./task-form.tsx";

/** @param hasEntity whether the list has tasks of several users and accounts */
export function TaskRow({ task, hasEntity = false }: { task: Task; hasEntity?: boolean }): ReactElement {
  const [isEditing, setEditing] = useState(false);
  const mayChange = useMayAs("member");
  const change = useChange("PATCH /api/tasks/:id");
  const remove = useConfirmedChange("DELETE /api/tasks/:id");
  const tell = useTell();
  const { id, title, entity, doneAt } = task;
  const isDone = doneAt !== null;
  const mark = (done: boolean) =>
    change.mutate({ path: { id }, body: { isDone: done } }, { onError: tell.failed });
  const askToDelete = () =>
    remove.ask(
      {
        title: "Delete this task?",
        text: `“${title}” is deleted for all team members.`,
        action: "Delete task",
        isDangerous: true,
      },
      { path: { id } },
      "The task is deleted.",
    );
  return (
    <li className="flex items-start gap-3 border-b border-line py-2 last:border-0">
      <input
        type="checkbox"
        aria-label={`Done: ${title}`}
        checked={isDone}
        disabled={!mayChange || change.isPending}
        onChange={({ target }) => mark(target.checked)}
        className="mt-1.5 shrink-0"
      />
      <div className="min-w-0 grow">
        <p className={classes("[overflow-wrap:anywhere]", isDone && "text-soft line-through")}>{title}</p>
        <p className="flex flex-wrap gap-x-3 text-sm text-soft">
          {hasEntity && (
            <EntityLink
              kind={entity.kind}
              id={entity.id}
              label={entity.label}
              title={entity.label}
              className="max-w-full truncate underline decoration-edge underline-offset-3"
            />
          )}
          <When task={task} />
          <span className="min-w-0 [overflow-wrap:anywhere]">{assigneeText(task)}</span>
          {task.author !== null && (
            <span className="min-w-0 [overflow-wrap:anywhere]">Added by {task.author}</span>
          )}
        </p>
      </div>
      {mayChange && (
        <div className="flex shrink-0 gap-1">
          <Button isSmall look="quiet" aria-label={`Change ${title}`} onClick={() => setEditing(true)}>
            Change
          </Button>
          <Button isSmall look="quiet" aria-label={`Delete ${title}`} onClick={() => void askToDelete()}>
            Delete
          </Button>
        </div>
      )}
      <TaskDialog task={task} entity={entity} isOpen={isEditing} onClose={() => setEditing(false)} />
    </li>
  );
}

function When({ task: { due, isOverdue, doneAt } }: { task: Task }): ReactElement {
  if (doneAt !== null) {
    return (
      <span>
        Done <RelativeTime instant={doneAt} />
      </span>
    );
  }
  if (due === null) return <span>Any day</span>;
  return (
    <span className={isOverdue ? "font-medium text-at-risk" : undefined}>
      {isOverdue ? "Overdue since" : "Due"} {dayText(due)}
    </span>
  );
}

function assigneeText({ assignee, formerAssignee, doneBy }: Task): string {
  if (doneBy !== null) return `By ${doneBy.name}`;
  if (assignee !== null) return assignee.name;
  return formerAssignee === null ? "Nobody" : `Nobody: ${formerAssignee} is not in the team`;
}
