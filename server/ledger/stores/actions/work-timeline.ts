/** Alerts, notes and tasks as entries of timelines. */
import { type TimelineKind, timelineKinds } from "../../../../contract/actions/work.ts";
import {
  comparePositions,
  type WorkEntry,
  type WorkPosition,
  type WorkTimeline,
  workPosition,
} from "../../ports/actions/work-timeline.ts";
import type { Engine } from "../engine/engine.ts";
import { part, sqlText, type Work } from "../engine/sql.ts";
import { findAlerts } from "./alerts.ts";
import { findNotes } from "./notes.ts";
import { findTasks } from "./tasks.ts";
import { isNamed } from "./which-alerts.ts";
import { isOfEntity } from "./work-rows.ts";

const endOfTime: WorkPosition = { atMs: Number.MAX_SAFE_INTEGER, kind: "event", id: 0 };

/** The timeline of alerts, notes and tasks. */
export function workTimeline(engine: Engine): WorkTimeline {
  return {
    entries: (organization, entity, { limit, before = endOfTime, today }) =>
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
          const all: WorkEntry[] = [
            ...alerts.map((alert) => ({ kind: "alert", atMs: alert.firedAtMs, alert }) as const),
            ...notes.map((note) => ({ kind: "note", atMs: note.createdAtMs, note }) as const),
            ...begun.map((task) => ({ kind: "task", atMs: task.createdAtMs, task }) as const),
            ...done.map((task) => ({ kind: "task_done", atMs: task.doneAtMs ?? 0, task }) as const),
          ];
          return all.toSorted((a, b) => comparePositions(workPosition(a), workPosition(b))).slice(0, limit);

          function page(kind: TimelineKind, table: "alerts" | "notes" | "tasks", column: string) {
            const [time, id] = [sqlText(`${table}.${column}`), sqlText(`${table}.id`)];
            return part`
              AND (${time} < ${before.atMs} OR ${time} = ${before.atMs} AND ${id} < ${idBefore(before, kind)})
              ORDER BY ${time} DESC, ${id} DESC LIMIT ${limit}`;
          }
        })(),
      ),
  };
}

/** The id that entries of a kind at the position's own time are below. */
function idBefore(before: WorkPosition, kind: TimelineKind): number {
  const order = timelineKinds.indexOf(kind) - timelineKinds.indexOf(before.kind);
  if (order === 0) return before.id;
  return order > 0 ? Number.MAX_SAFE_INTEGER : 0;
}
