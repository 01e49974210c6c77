/** Segments for work that is no request: for decisions of alert rules, and for the record of their
 * members. */
import type { Filter } from "../../../contract/segments/filters.ts";
import { zoneOf } from "../../calendar/zone.ts";
import { evaluationOf } from "../../figures/segment-evaluation.ts";
import type { SelectionContext } from "../../figures/segment-selection.ts";
import type { ApiParts } from "../../http/api/context.ts";
import { PassiveEventsOfOrganizations } from "../../http/api/passive-events.ts";
import { serviceItself } from "../../ledger/audit.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Segment } from "../../ledger/rules/segment-rules.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { RuleDeciderParts } from "../alerts/rule-decider.ts";
import type { SegmentKeeperParts } from "./segment-keeper.ts";

interface Stores {
  readonly warehouse: Warehouse;
  readonly ledger: SharedLedger;
  readonly sources: ApiParts["sources"];
  readonly nowMs: () => number;
}

/** The conditions that follow from scores. */
const ofScores = [
  "verdict",
  "state",
  "healthBand",
  "riskBand",
  "isPresent",
  "healthBandBefore",
  "moved",
  "toCall",
  "usageFellPercent",
  "healthFellPoints",
  "seatsUsedFrom",
  "seatsUsedTo",
  "pulseFrom",
  "pulseTo",
] as const satisfies readonly (keyof Filter)[];

/** Reads a segment of a rule, evaluated as for a list. */
export function segmentsForRules(stores: Stores): RuleDeciderParts["segmentOf"] {
  const contextOf = contextsOf(stores);
  return async (organization, segment) => {
    const filter = { segments: [{ segment }] };
    const evaluation = await evaluationOf(contextOf(organization), [{ kind: "user", filter }]);
    const [own, ...below] = evaluation.withThoseBelow(segment);
    return {
      name: own.name,
      members: await evaluation.set(segment),
      changedAtMs: Math.max(...[own, ...below].map(({ contentAtMs }) => contentAtMs)),
      readsScores: readsScores([own, ...below]),
      countsDays: countsDays([own, ...below]),
    };
  };
}

/** Evaluates segments for the record of their members. */
export function segmentsForKeeper(stores: Stores): SegmentKeeperParts["evaluate"] {
  const contextOf = contextsOf(stores);
  return async (organization, segments, warehouse) => {
    const filter = { segments: segments.map((segment) => ({ segment })) };
    const context = { ...contextOf(organization), warehouse };
    const evaluation = await evaluationOf(context, [{ kind: "user", filter }]);
    return {
      segments: evaluation.segments,
      membersOf: (segment) => evaluation.set(segment),
      readsScores: (segment) => readsScores(evaluation.withThoseBelow(segment)),
    };
  };
}

function contextsOf(stores: Stores): (organization: Organization) => SelectionContext {
  const passive = new PassiveEventsOfOrganizations();
  return (organization) => ({
    ...stores,
    organization,
    zone: zoneOf(organization.timezone),
    actor: serviceItself,
    passiveEvents: () => passive.of(stores, organization.id),
  });
}

/** The conditions on what was done within some days until now. */
const ofDays = ["seenWithinDays", "notSeenForDays", "events"] as const satisfies readonly (keyof Filter)[];

/** Whether scores decide who is in one of the segments. */
export function readsScores(segments: readonly Pick<Segment, "filter">[]): boolean {
  return segments.some(({ filter }) => ofScores.some((name) => filter?.[name] !== undefined));
}

/** Whether days without data change who is in one of the segments. */
export function countsDays(segments: readonly Pick<Segment, "filter">[]): boolean {
  return segments.some(({ filter }) => ofDays.some((name) => filter?.[name] !== undefined));
}
