/** Tasks across all users and accounts. */
import type { ReactElement } from "react";
import { taskLists } from "../../../contract/notes-and-tasks.ts";
import { useRead } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/list/filters.ts";
import { Pick } from "../../parts/list/pick.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { counted, numbers } from "../../text/format.ts";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { useMemberChoices, withChoice } from "./members.ts";
import { TaskRow } from "./task-row.tsx";

const pageSize = 50;
const lastOffset = 100_000;
const words = { open: "Open", due: "Due", overdue: "Overdue", done: "Done" } as const;
const none = {
  open: "No open task",
  due: "Nothing is due today",
  overdue: "Nothing is overdue",
  done: "No task is done yet",
} as const;
const filters = {
  list: choiceFilter([...taskLists], "open"),
  /** As the API takes it, and `anyone`. */
  assignee: { read: (text: string | undefined) => text ?? "me", write: textFilter().write },
  /** Only tasks for its users or accounts. */
  segment: conditionFilters.segment,
  offset: numberFilter(lastOffset),
};

export default function TasksPage(): ReactElement {
  const [{ list, assignee, segment, offset }, change] = useFilters(filters);
  const choices = [
    { value: "me", label: "My tasks" },
    { value: "anyone", label: "Anyone's tasks" },
    { value: "nobody", label: "Without assignee" },
    ...useMemberChoices(),
  ];
  const asked = useRead("/api/tasks", {
    query: {
      list,
      limit: pageSize,
      offset,
      ...(assignee !== "anyone" && { assignee }),
      ...(segment !== undefined && { segment }),
    },
    keepsPrevious: true,
  });
  return (
    <>
      <PageHeader title="Tasks">Tasks of the team for users and accounts.</PageHeader>
      <Panel
        title="Tasks"
        actions={
          <>
            <Pick
              label="Assignee"
              value={assignee}
              byDefault="me"
              choices={withChoice(choices, assignee, "A former team member")}
              onChoose={(to) => change({ assignee: to, offset: 0 })}
            />
            <SegmentPick
              of="entities"
              value={segment}
              onChoose={(to) => change({ segment: to, offset: 0 })}
            />
          </>
        }
      >
        <Tabs
          label="Which tasks"
          value={list}
          onChoose={(to) => change({ list: to, offset: 0 })}
          tabs={taskLists.map((value) => ({ value, label: words[value] }))}
        >
          <Figures
            asked={asked}
            loading={<Loading rows={8} />}
            empty={({ total }) => total === 0 && <NoTask list={list} isOfSegment={segment !== undefined} />}
          >
            {({ total, tasks }) => (
              <>
                <ul aria-label={`${words[list]} tasks`}>
                  {tasks.map((task) => (
                    <TaskRow key={task.id} task={task} hasEntity />
                  ))}
                </ul>
                <div className="mt-3 flex flex-wrap items-center gap-2">
                  <p role="status" className="grow text-sm text-soft">
                    {total > pageSize && tasks.length > 0
                      ? `${numbers.count(offset + 1)} to ${numbers.count(offset + tasks.length)} of ${counted(total, "task")}`
                      : counted(total, "task")}
                  </p>
                  {offset > 0 && (
                    <Button isSmall onClick={() => change({ offset: Math.max(0, offset - pageSize) })}>
                      Previous
                    </Button>
                  )}
                  {offset + tasks.length < total && offset + pageSize <= lastOffset && (
                    <Button isSmall onClick={() => change({ offset: offset + pageSize })}>
                      Next
                    </Button>
                  )}
                </div>
              </>
            )}
          </Figures>
        </Tabs>
      </Panel>
    </>
  );
}

interface NoTaskProps {
  readonly list: keyof typeof none;
  readonly isOfSegment: boolean;
}

function NoTask({ list, isOfSegment }: NoTaskProps): ReactElement {
  if (isOfSegment) return <Empty title="No task matches">Choose another assignee or segment.</Empty>;
  return (
    <Empty title={none[list]}>
      {list === "done"
        ? "Tasks that are marked as done stand here."
        : "Tasks are added on the page of a user or an account."}
    </Empty>
  );
}
