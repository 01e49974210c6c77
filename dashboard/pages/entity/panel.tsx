/** Tasks, notes and contacts of a user or an account. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { useFilters } from "../../parts/list/filters.ts";
import { Panel } from "../../parts/panel.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import type { Entity } from "../tasks/task-form.tsx";
import { Contacts } from "./contacts.tsx";
import { filters } from "./filters.ts";
import { Notes } from "./notes.tsx";
import { Tasks } from "./tasks.tsx";

const paths = { user: "/api/users/:userId/tasks", account: "/api/accounts/:accountId/tasks" } as const;

export function WorkPanel({ entity }: { entity: Entity }): ReactElement {
  const [{ work }, change] = useFilters(filters);
  const path = { userId: entity.id, accountId: entity.id };
  const tasks = useRead(paths[entity.kind], { path });
  const open = tasks.data?.tasks.filter(({ doneAt }) => doneAt === null).length ?? 0;
  return (
    <Panel title="Tasks, notes and contacts">
      <Tabs
        label="Tasks, notes and contacts"
        value={work}
        onChoose={(to) => change({ work: to })}
        tabs={[
          { value: "tasks", label: "Tasks", ...(open > 0 && { count: open }) },
          { value: "notes", label: "Notes" },
          { value: "contacts", label: "Contacts" },
        ]}
      >
        {work === "tasks" && <Tasks entity={entity} asked={tasks} />}
        {work === "notes" && <Notes entity={entity} />}
        {work === "contacts" && <Contacts entity={entity} />}
      </Tabs>
    </Panel>
  );
}
