/** Handlers of the JSON API about who entered and left segments. */
import { noSuch } from "../../../contract/refusal.ts";
import { formatDay } from "../../calendar/days.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import type { AnalysisHandlers, OrganizationContext } from "../../http/api/context.ts";
import { today } from "../../http/api/days.ts";
import { idIn } from "../../http/api/request.ts";
import { type ChangePosition, segmentChangesOf, segmentDays, segmentEvaluated } from "./members-history.ts";

export const segmentHistoryHandlers = {
  "GET /api/segments/:id/history": async (context) => {
    const { warehouse, organization, query } = context;
    const head = await headOf(context);
    const toDay = today(context);
    const period = { fromDay: toDay - query.days + 1, toDay };
    const whose = { organization: organization.id, segment: head.segment.id };
    const days = await segmentDays(warehouse, { ...whose, ...period });
    return {
      ...head,
      days: days.map(({ day, causes, ...counts }) => ({
        day: formatDay(day),
        ...counts,
        causes: [...causes],
      })),
    };
  },

  "GET /api/segments/:id/changes": async (context) => {
    const { warehouse, organization, query } = context;
    const head = await headOf(context);
    const rows = await segmentChangesOf(warehouse, {
      organization: organization.id,
      segment: head.segment.id,
      limit: query.limit,
      of: head.segment.kind === "users" ? "user" : "account",
      before: positionOf(query.before),
    });
    const last = rows.at(-1);
    return {
      ...head,
      changes: rows.map(({ id, label, atMs, entered, cause }) => ({
        entityId: id,
        entityLabel: label,
        at: instant(atMs),
        cause,
        change: entered ? ("entered" as const) : ("left" as const),
      })),
      next: last === undefined || rows.length < query.limit ? null : `${last.evaluation}-${last.entity}`,
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** Of a user or an account. */
const highestNumber = 2 ** 32 - 1;

type Context = Pick<OrganizationContext, "ledger" | "warehouse" | "organization"> & {
  readonly path: { readonly id: string };
};

/** The segment, and when it was evaluated. @throws ApiError when the organization has no such segment */
async function headOf({ ledger, warehouse, organization, path }: Context) {
  const id = idIn(path.id, "segment");
  const segment = (await ledger.segments.list(organization.id)).find((one) => one.id === id);
  if (segment === undefined) throw noSuch("segment");
  const evaluated = await segmentEvaluated(warehouse, { organization: organization.id, segment: id });
  return {
    segment: { id, kind: segment.kind, name: segment.name },
    firstEvaluatedAt: instantOrNull(evaluated?.firstAtMs),
    lastEvaluatedAt: instantOrNull(evaluated?.lastAtMs),
  };
}

/** The position that `next` said; undefined where nothing was sent. */
function positionOf(text: string | undefined): ChangePosition | undefined {
  if (text === undefined) return undefined;
  const [evaluation = 0, entity = 0] = text.split("-").map(Number);
  return { evaluation, entity: Math.min(entity, highestNumber) };
}
