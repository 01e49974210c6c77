/** Handlers of the JSON API about who is in segments. */

import { accountSet } from "../../analytics/entities/account-list.ts";
import { sizeOfSet } from "../../analytics/entities/entity-sets.ts";
import { userSet } from "../../analytics/entities/user-list.ts";
import { setsOfList } from "../../figures/segment-evaluation.ts";
import { accountsSelection, usersSelection } from "../../figures/segment-selection.ts";
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
    if (kind === "users") {
      const sets = await setsOfList(context, "user", filter);
      const { selection } = await usersSelection(context, filter, sets);
      return { members: await sizeOfSet(warehouse, await userSet(warehouse, selection)) };
    }
    const sets = await setsOfList(context, "account", filter);
    const { selection } = await accountsSelection(context, filter, sets);
    return { members: await sizeOfSet(warehouse, await accountSet(warehouse, selection)) };
  },
} satisfies Partial<AnalysisHandlers>;
