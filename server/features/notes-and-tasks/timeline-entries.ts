/** Alerts, notes, tasks and pulses as entries of timelines. */
import { type TimelineKind, timelineKinds } from "../../../contract/notes-and-tasks.ts";
import type { Engine } from "../../ledger/engine.ts";
import { part, sqlText, type Work } from "../../ledger/sql.ts";
import { type EntityRef, isOfEntity } from "../../ledger/stores/entity-rows.ts";
import { findAlerts } from "../alerts/store/alert-store.ts";
import type { Alert } from "../alerts/store/alerts.ts";
import { isNamed } from "../alerts/store/which-alerts.ts";
import { findPulses, type Pulse } from "../pulse/store.ts";
import { findNotes, type Note } from "./notes.ts";
import { findTasks, type Task } from "./tasks.ts";

/** An entry of a timeline that is no event. A task has an entry for its begin, and one for its end. */
export type WorkEntry =
  | { readonly kind: "alert"; readonly atMs: number; readonly alert: Alert }
  | { readonly kind: "note"; readonly atMs: number; readonly note: Note }
  | { readonly kind: "pulse"; readonly atMs: number; readonly pulse: Pulse }
  | { readonly kind: "task" | "task_done"; readonly atMs: number; readonly task: Task };

/** A place on a timeline. Entries of one time come in the order of `timelineKinds`, then by their ids, the
 * highest first. */
export interface WorkPosition {
  readonly atMs: number;
  readonly kind: TimelineKind;
  /** Of an alert, a note, a task or a pulse. */
  readonly id: number;
}

/** The place of an entry on a timeline. */
export function workPosition(entry: WorkEntry): WorkPosition {
  return { atMs: entry.atMs, kind: entry.kind, id: contentOf(entry).id };
}

/** Orders places on a timeline, the newest first. */
export function comparePositions(a: WorkPosition, b: WorkPosition): number {
  return b.atMs - a.atMs || timelineKinds.indexOf(a.kind) - timelineKinds.indexOf(b.kind) || b.id - a.id;
}

/** The alert, note, task or pulse of an entry. */
function contentOf(entry: WorkEntry): Alert | Note | Pulse | Task {
  if (entry.kind === "alert") return entry.alert;
  if (entry.kind === "pulse") return entry.pulse;
  return entry.kind === "note" ? entry.note : entry.task;
}

const endOfTime: WorkPosition = { atMs: Number.MAX_SAFE_INTEGER, kind: "event", id: 0 };

/** The timeline of alerts, notes, tasks and pulses. */
export function workTimeline(engine: Engine) {
  return {
    /** Alerts, notes, tasks and pulses of a user or an account, the newest first. A pulse that was taken back
     * is no entry. */
    entries: (
      organization: number,
      entity: EntityRef,
      {
        limit,
        before = endOfTime,
        today,
      }: {
        readonly limit: number;
        /** Only entries behind this place. */
        readonly before?: WorkPosition | undefined;
        /** Today in the organization's timezone: controls are left out before their horizon is over. */
        readonly today: number;
      },
    ) =>
      engine.snapshot(
        (function* (): Work<readonly WorkEntry[]> {
          const alerts = yield* findAlerts(
            part`WHERE ${isOfEntity(organization, "alerts", entity)} AND ${isNamed(organization, today)}
              ${page("alert", "alerts", "fired_at_ms")}`,
          );
          const notes = yield* findNotes(
            part`WHERE ${isOfEntity(organization, "notes", entity)} ${page("note", "notes", "created_at_ms")}`,
          );
          const ofTasks = isOfEntity(organization, "tasks", entity);
          const begun = yield* findTasks(part`WHERE ${ofTasks} ${page("task", "tasks", "created_at_ms")}`);
          const done = yield* findTasks(
            part`WHERE ${ofTasks} AND done_at_ms IS NOT NULL ${page("task_done", "tasks", "done_at_ms")}`,
          );
          const pulses = yield* findPulses(
            part`WHERE ${isOfEntity(organization, "pulses", entity)} AND taken_back_at_ms IS NULL
              ${page("pulse", "pulses", "said_at_ms")}`,
          );
          const all: WorkEntry[] = [
            ...alerts.map((alert) => ({ kind: "alert", atMs: alert.firedAtMs, alert }) as const),
            ...notes.map((note) => ({ kind: "note", atMs: note.createdAtMs, note }) as const),
            ...pulses.map((pulse) => ({ kind: "pulse", atMs: pulse.saidAtMs, pulse }) as const),
            ...begun.map((task) => ({ kind: "task", atMs: task.createdAtMs, task }) as const),
            ...done.map((task) => ({ kind: "task_done", atMs: task.doneAtMs ?? 0, task }) as const),
          ];
          return all.toSorted((a, b) => comparePositions(workPosition(a), workPosition(b))).slice(0, limit);

          function page(kind: TimelineKind, table: "alerts" | "notes" | "tasks" | "pulses", column: string) {
            const [time, id] = [sqlText(`${table}.${column}`), sqlText(`${table}.id`)];
            return part`
              AND (${time} < ${before.atMs} OR ${time} = ${before.atMs} AND ${id} < ${idBefore(before, kind)})
              ORDER BY ${time} DESC, ${id} DESC LIMIT ${limit}`;
          }
        })(),
      ),
  };
}

export type WorkTimeline = ReturnType<typeof workTimeline>;

/** The id that entries of a kind at the position's own time are below. */
function idBefore(before: WorkPosition, kind: TimelineKind): number {
  const order = timelineKinds.indexOf(kind) - timelineKinds.indexOf(before.kind);
  if (order === 0) return before.id;
  return order > 0 ? Number.MAX_SAFE_INTEGER : 0;
}
