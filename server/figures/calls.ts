/** The scores by which the filter `toCall` of lists and segments selects: scoring/queries/lists/to-call.ts
 * defines it. */

import type { Controls } from "../analytics/entities/controls.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { callChangeDays, type ToCallQuestion } from "../scoring/queries/lists/to-call.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import { earlierRun, type Run, type RunContext, scoreContext } from "./score-context.ts";

/** By which scores a list says whether its rows are to be called; undefined before the first. */
export async function questionOfCalls(
  context: RunContext,
  kind: EntityKind,
  controls: Controls,
): Promise<ToCallQuestion | undefined> {
  const { run } = await scoreContext(context, kind);
  return run && questionOf(context, kind, run, controls);
}

async function questionOf(
  context: RunContext,
  kind: EntityKind,
  run: Run,
  controls: Controls,
): Promise<ToCallQuestion> {
  const { id } = context.organization;
  const weekBefore = await earlierRun(context, kind, run, run.day - callChangeDays);
  return {
    run: rowsOf(id, kind, run),
    highRisk: run.body.riskScale.high,
    weekBefore: weekBefore && rowsOf(id, kind, weekBefore),
    controls: [...controls.keys()],
  };
}
