/** Segments with their recorded members, for previews of alert rules. */
import { Refusal } from "../../../contract/refusal.ts";
import { recordedDays } from "../../analytics/entities/recorded-days.ts";
import type { SelectionContext } from "../../figures/segment-selection.ts";
import { segmentWithThoseBelow } from "../../ledger/rules/segment-rules.ts";
import type { FindSegment } from "../alerts/rules/past-segments.ts";
import { contentKeys } from "./evaluations.ts";
import { countsDays, readsScores } from "./for-alerts.ts";

/** Finds segments of the organization, and the days on which their members were recorded. */
export function segmentsInPast({ warehouse, ledger, organization }: SelectionContext): FindSegment {
  return async (field, id, kind) => {
    const segments = await ledger.segments.list(organization.id);
    const [own, ...below] = segmentWithThoseBelow(segments, id);
    if (own === undefined) throw new Refusal(`${field} is not valid: there is no segment with the id ${id}.`);
    if (own.kind !== kind)
      throw new Refusal(`${field} is not valid: ${own.name} is a segment of ${own.kind}.`);
    const question = { organization: organization.id, segment: id, content: contentKeys(segments)(own) };
    return {
      id,
      name: own.name,
      readsScores: readsScores([own, ...below]),
      countsDays: countsDays([own, ...below]),
      recorded: await recordedDays(warehouse, question),
    };
  };
}
