/** The tasks of a user or an account. */
import { type ReactElement, useState } from "react";
import type { Asked, Reads } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { type Entity, TaskDialog } from "../tasks/task-form.tsx";
import { TaskRow } from "../tasks/task-row.tsx";

export function Tasks({
  entity,
  asked,
}: {
  entity: Entity;
  asked: Asked<Reads["/api/users/:userId/tasks"]["answer"]>;
}): ReactElement {
  const [isAdding, setAdding] = useState(false);
  const mayChange = useMayAs("member");
  return (
    <>
      {mayChange && (
        <Button isSmall icon="plus" onClick={() => setAdding(true)}>
          Add task
        </Button>
      )}
      <Figures
        asked={asked}
        empty={({ tasks }) =>
          tasks.length === 0 && (
            <Empty title="No task yet">
              {mayChange ? "Add one, with a day and an assignee." : "Members and owners can add one."}
            </Empty>
          )
        }
      >
        {({ tasks }) => (
          <ul aria-label="Tasks" className="mt-2">
            {tasks.map((task) => (
              <TaskRow key={task.id} task={task} />
            ))}
          </ul>
        )}
      </Figures>
      <TaskDialog task={undefined} entity={entity} isOpen={isAdding} onClose={() => setAdding(false)} />
    </>
  );
}
