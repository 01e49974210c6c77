/** Alerts, notes, tasks and pulses in a timeline, each in one line. */
import { dayText } from "../../text/format.ts";

type Kind = "alert" | "note" | "pulse" | "task" | "task_done";

/**
 * Of an alert its rule and the reasons, of a note its text and author, of a pulse also its value, of a task
 * its title, its day and its assignee. Parts that are unknown are left out.
 */
export function entryText(kind: Kind, properties: Record<string, unknown>): string {
  const textOf = (name: string) => {
    const value = properties[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const [due, by] = [textOf("due"), textOf("by")];
  const { reasons, value } = properties;
  const parts: Readonly<Record<Kind, readonly (string | undefined)[]>> = {
    alert: [textOf("rule"), ...(Array.isArray(reasons) ? reasons.map(String) : [])],
    pulse: [`${String(value)} of 5`, textOf("text"), by && `by ${by}`],
    note: [textOf("text"), by && `by ${by}`],
    task: [textOf("title"), due && `due ${dayText(due)}`, textOf("assignee")],
    task_done: [textOf("title"), due && `due ${dayText(due)}`, by && `by ${by}`],
  };
  return parts[kind].filter((part) => part !== undefined).join(" · ");
}
