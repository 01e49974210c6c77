/** Segments as of past days, for previews of alert rules. */
import { Refusal } from "../../../contract/refusal.ts";
import { comparedDays, withoutHistory } from "../../analytics/segments/past/history-of-filter.ts";
import { PastMembers } from "../../analytics/segments/past/past-members.ts";
import { billingOf } from "../../figures/payers.ts";
import type { SelectionContext } from "../../figures/segment-selection.ts";
import type { Segment } from "../../ledger/ports/actions/segments.ts";
import { segmentWithThoseBelow } from "../../ledger/rules/segment-rules.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import { runsBetween } from "../../scoring/run/records.ts";
import { newestRun } from "../../scoring/run/status.ts";
import type { FindSegment, SegmentField } from "../alerts/rules/past-segments.ts";
import { countsDays, readsScores } from "./for-alerts.ts";

/** Days before the first one whose runs are all read: the newest scores as of it, and those that they are
 * compared with. */
const earlierDays = 2 * 28;

/** Finds segments of the organization, and evaluates them as of past days. */
export function segmentsInPast(context: SelectionContext): FindSegment {
  const { ledger, organization, zone } = context;
  return async (field, id, kind) => {
    const segments = await ledger.segments.list(organization.id);
    const [own, ...below] = segmentWithThoseBelow(segments, id);
    if (own === undefined) throw new Refusal(`${field} is not valid: there is no segment with the id ${id}.`);
    if (own.kind !== kind)
      throw new Refusal(`${field} is not valid: ${own.name} is a segment of ${own.kind}.`);
    refuseWithoutHistory(field, [own, ...below]);
    const fixed = [own, ...below].filter(({ filter }) => filter === null);
    // As of the start of the day on which it changed, its ids were others.
    const since = fixed.map(({ contentAtMs }) => zone.dayOf(contentAtMs) + 1);
    return {
      name: own.name,
      readsScores: readsScores([own, ...below]),
      countsDays: countsDays([own, ...below]),
      comparedDays: Math.max(...[own, ...below].map(({ filter }) => comparedDays(filter ?? {}))),
      sinceDay: since.length === 0 ? null : Math.max(...since),
      membersOn: async (days) => (await pastMembers(context, segments, days)).of(id),
    };
  };
}

/** @throws Refusal when a condition of one of the segments has no history */
function refuseWithoutHistory(field: SegmentField, segments: readonly Segment[]): void {
  for (const { name, filter } of segments) {
    const found = filter === null ? undefined : withoutHistory(filter);
    if (found === undefined) continue;
    throw new Refusal(
      `${field} has no preview: the condition ${found.condition} of the segment ${name} cannot be evaluated for past days, because ${found.why}.`,
    );
  }
}

async function pastMembers(
  context: SelectionContext,
  segments: readonly Segment[],
  days: readonly number[],
): Promise<PastMembers> {
  const { warehouse, ledger, organization, zone } = context;
  const { id } = organization;
  const [fromDay = 0, toDay = 0] = [days[0], days.at(-1)];
  return new PastMembers({
    warehouse,
    segments,
    passiveEvents: await context.passiveEvents(),
    past: { organization: id, days, startsMs: days.map((day) => zone.startOfDay(day)) },
    numbersOf: (segment) => ledger.segments.numbers(id, segment),
    runsOf: (kind) => runsOf(context, kind, { fromDay: fromDay - earlierDays, toDay }),
    payersOf: async (kind) => (await billingOf(context, kind, undefined)).payers,
  });
}

/** The runs of some days, after the newest one of before. */
async function runsOf(
  { warehouse, organization: { id } }: SelectionContext,
  kind: EntityKind,
  span: { readonly fromDay: number; readonly toDay: number },
) {
  const before = await newestRun(warehouse, id, kind, span.fromDay - 1);
  const runs = await runsBetween(warehouse, { organization: id, kind }, span);
  return [...(before === undefined ? [] : [before]), ...runs].map(({ day, body }) => {
    const { rowsVersion, riskScale } = body;
    return { day, rowsVersion, riskScale };
  });
}
