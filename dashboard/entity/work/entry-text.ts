/** Notes and tasks in a timeline, each in one line. */
import { dayText } from "../../text/format.ts";

/** Of a note its text and author. Of a task its title, its day and its assignee. Parts that are unknown are left out. */
export function entryText(kind: "note" | "task" | "task_done", properties: Record<string, unknown>): string {
  const textOf = (name: string) => {
    const value = properties[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const [due, by] = [textOf("due"), textOf("by")];
  const parts =
    kind === "note"
      ? [textOf("text"), by && `by ${by}`]
      : [
          textOf("title"),
          due && `due ${dayText(due)}`,
          kind === "task" ? textOf("assignee") : by && `by ${by}`,
        ];
  return parts.filter((part) => part !== undefined).join(" · ");
}
