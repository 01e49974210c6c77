/** The segments of alert rules, for their decision, which is no request. */
import type { Filter } from "../../../../contract/actions/filters.ts";
import type { RuleDeciderParts } from "../../../actions/actions.ts";
import { zoneOf } from "../../../calendar/calendar.ts";
import { type SharedLedger, serviceItself } from "../../../ledger/ledger.ts";
import type { Warehouse } from "../../../warehouse/warehouse.ts";
import type { ApiParts } from "../../api/context.ts";
import { PassiveEventsOfOrganizations } from "../passive-events.ts";
import { evaluationOf } from "./evaluation.ts";

interface Stores {
  readonly warehouse: Warehouse;
  readonly ledger: SharedLedger;
  readonly sources: ApiParts["sources"];
  readonly nowMs: () => number;
}

/** The conditions that follow from scores. */
const ofScores = [
  ...(["verdict", "state", "healthBand", "riskBand", "isPresent"] as const),
  ...(["healthBandBefore", "moved", "toCall"] as const),
] satisfies readonly (keyof Filter)[];

/** Reads a segment of a rule, evaluated as for a list. */
export function segmentsForRules(stores: Stores): RuleDeciderParts["segmentOf"] {
  const passive = new PassiveEventsOfOrganizations();
  return async (organization, segment) => {
    const context = {
      ...{ ...stores, organization, zone: zoneOf(organization.timezone), actor: serviceItself },
      passiveEvents: () => passive.of(stores, organization.id),
    };
    const evaluation = await evaluationOf(context, [{ kind: "user", filter: { segments: [{ segment }] } }]);
    const [own, ...below] = evaluation.withThoseBelow(segment);
    const read = [own, ...below];
    return {
      name: own.name,
      members: await evaluation.set(segment),
      changedAtMs: Math.max(...read.map(({ contentAtMs }) => contentAtMs)),
      readsScores: read.some(({ filter }) => ofScores.some((name) => filter?.[name] !== undefined)),
    };
  };
}
