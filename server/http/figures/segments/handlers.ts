/** Handlers of the JSON API about who is in segments. */
import { accountSet, sizeOfSet, userSet } from "../../../analytics/analytics.ts";
import { refuseInvalidFilter } from "../../../ledger/ledger.ts";
import type { AnalysisHandlers } from "../../api/context.ts";
import { evaluationOf, setsOfList } from "./evaluation.ts";
import { accountsSelection, usersSelection } from "./selection.ts";

export const segmentFigureHandlers = {
  "GET /api/segment-sizes": async (context) => {
    const { ledger, warehouse, organization } = context;
    const all = await ledger.segments.list(organization.id);
    const filter = { segments: all.map(({ id }) => ({ segment: id })) };
    const evaluation = await evaluationOf(context, [{ kind: "user", filter }]);
    const segments = [];
    for (const { id, kind, name } of all) {
      segments.push({ id, kind, name, members: await sizeOfSet(warehouse, await evaluation.set(id)) });
    }
    return { segments };
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
