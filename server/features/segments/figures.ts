/** Handlers of the JSON API about who is in segments. */

import { sizeOfSet } from "../../analytics/entities/entity-sets.ts";
import { lists } from "../../analytics/entities/lists.ts";
import { kindOf, setsOfList } from "../../figures/segment-evaluation.ts";
import { selectionOf } from "../../figures/segment-selection.ts";
import type { AnalysisHandlers } from "../../http/api/context.ts";
import { refuseInvalidFilter } from "../../ledger/rules/segment-rules.ts";
import { recordedSizes } from "./evaluations.ts";

export const segmentFigureHandlers = {
  // As they were recorded: evaluating 188 segments of 50 conditions takes 20 seconds.
  "GET /api/segment-sizes": async ({ ledger, warehouse, organization }) => {
    const segments = await ledger.segments.list(organization.id);
    const sizes = await recordedSizes(warehouse, organization.id, segments);
    return {
      segments: segments.map(({ id, kind, name }) => ({ id, kind, name, members: sizes.get(id) ?? null })),
    };
  },

  "POST /api/segments/preview": async (context) => {
    const { warehouse, body } = context;
    const { kind, filter } = body;
    refuseInvalidFilter(kind, filter);
    const of = kindOf[kind];
    const { selection } = await selectionOf(context, of, filter, await setsOfList(context, of, filter));
    return { members: await sizeOfSet(warehouse, await lists[of].set(warehouse, selection)) };
  },
} satisfies Partial<AnalysisHandlers>;
