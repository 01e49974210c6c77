/** The alerts of moments that fire, and their chunks. */
import type { RuleCondition } from "../../../../contract/alerts/rules.ts";
import { dayWords } from "../../../analytics/ranking.ts";
import { type Zone, zoneOf } from "../../../calendar/zone.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { DecisionChunk, FiredAlert, RuleToDecide, Watermark } from "../store/decisions.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { factsOf, firingFigures, scoreFigures, worthOf } from "./facts.ts";
import type { MomentEvent } from "./moment-events.ts";
import { withinSegment } from "./segments.ts";
import { excludedAmong } from "./standing.ts";

/** The entities of a list that an alert may be about: in the rule's scope, and not excluded.
 * @throws WarehouseError */
export async function eligibleEntities(
  parts: DecisionParts,
  organization: Organization,
  { scope }: RuleToDecide["version"],
  kind: EntityKind,
  entities: readonly number[],
): Promise<ReadonlySet<number>> {
  const inScope = await withinSegment(parts, organization, scope.segment, entities);
  const excluded = await excludedAmong(parts.warehouse, organization.id, kind, [...inScope]);
  return inScope.difference(new Set(excluded));
}

/** A chunk without states and alerts, which keeps the cursor. */
export function chunkOf(
  { organization, rule, version }: RuleToDecide["version"],
  { sequence, cursor }: Watermark,
  { day, horizonDays }: { readonly day: number; readonly horizonDays: number },
): DecisionChunk {
  return {
    organization,
    rule,
    version,
    after: sequence,
    horizonDays,
    next: { decidedThrough: day, part: null, cursor },
    states: [],
    fired: [],
    closed: [],
    insideBySettings: 0,
  };
}

const sentences: Readonly<Record<string, string>> = {
  paymentFailed: "A payment failed",
  cancellationScheduled: "A cancellation was scheduled",
  lastOwnerRemoved: "No member is an owner of the account any more",
};

/** "Card ends in 11/2026, renewal on 3 Dec" of a card. */
function sentenceOf(condition: RuleCondition, { card }: MomentEvent, zone: Zone): string {
  if (card !== undefined) {
    const [year, month] = card.expires.split("-");
    return `Card ends in ${month}/${year}, renewal on ${dayWords(zone.dayOf(card.renewsMs))}`;
  }
  return condition.kind === "event" ? `${condition.event} happened` : (sentences[condition.kind] ?? "");
}

/** The alerts of events, with the figures of their entities now. @throws WarehouseError */
export async function firedBy(
  parts: DecisionParts,
  organization: Organization,
  { condition, exemptions }: RuleToDecide["version"],
  kind: EntityKind,
  events: readonly MomentEvent[],
): Promise<FiredAlert[]> {
  const { warehouse, nowMs } = parts;
  const zone = zoneOf(organization.timezone);
  const entities = [...new Set(events.map(({ entity }) => entity))];
  if (entities.length === 0) return [];
  const run = await parts.newestRun(organization.id, kind, zone.dayOf(nowMs()));
  const figures =
    run === undefined ? undefined : await scoreFigures(warehouse, organization.id, kind, run, entities);
  const facts = new Map(
    [...(figures ?? [])].map(([entity, now]) => [entity, factsOf({ kind: "never" }, now, undefined)]),
  );
  const worth = await worthOf(parts, organization, kind, entities);
  const isEnd = condition.kind === "cancellationScheduled";
  const about = { facts, worth, isEnd };
  const figuresOfFiring = await firingFigures(parts, organization, exemptions, entities, about);
  return events.map((event) => {
    const { entity, timeMs, id } = event;
    const { reasons = [] } = facts.get(entity) ?? {};
    return {
      entity: { kind, number: entity },
      day: zone.dayOf(timeMs),
      eventId: id,
      before: null,
      after: null,
      reasons: [{ text: sentenceOf(condition, event, zone) }, ...reasons],
      ...figuresOfFiring(entity),
    };
  });
}
