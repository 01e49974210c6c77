/** Alerts, notes and tasks as entries of timelines. */
import { type TimelineKind, timelineKinds } from "../../../../contract/actions/work.ts";
import type { Alert } from "./alerts.ts";
import type { EntityRef, Note, Task } from "./work.ts";

/** An entry of a timeline that is no event. A task has an entry for its begin, and one for its end. */
export type WorkEntry =
  | { readonly kind: "alert"; readonly atMs: number; readonly alert: Alert }
  | { readonly kind: "note"; readonly atMs: number; readonly note: Note }
  | { readonly kind: "task" | "task_done"; readonly atMs: number; readonly task: Task };

/** A place on a timeline. Entries of one time come in the order of `timelineKinds`, then by their ids, the
 * highest first. */
export interface WorkPosition {
  readonly atMs: number;
  readonly kind: TimelineKind;
  /** Of an alert, a note or a task. */
  readonly id: number;
}

export interface WorkTimeline {
  /** Alerts, notes and tasks of a user or an account, the newest first. */
  entries(
    organization: number,
    entity: EntityRef,
    page: {
      readonly limit: number;
      /** Only entries behind this place. */
      readonly before?: WorkPosition | undefined;
      /** Today in the organization's timezone: controls are left out before their horizon is over. */
      readonly today: number;
    },
  ): Promise<readonly WorkEntry[]>;
}

/** The place of an entry on a timeline. */
export function workPosition(entry: WorkEntry): WorkPosition {
  return { atMs: entry.atMs, kind: entry.kind, id: contentOf(entry).id };
}

/** Orders places on a timeline, the newest first. */
export function comparePositions(a: WorkPosition, b: WorkPosition): number {
  return b.atMs - a.atMs || timelineKinds.indexOf(a.kind) - timelineKinds.indexOf(b.kind) || b.id - a.id;
}

/** The alert, note or task of an entry. */
function contentOf(entry: WorkEntry): Alert | Note | Task {
  if (entry.kind === "alert") return entry.alert;
  return entry.kind === "note" ? entry.note : entry.task;
}
