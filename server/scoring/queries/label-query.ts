/** The labels of a cut-off: which entities churned within the horizon from it, by the churn target. */
import { silence } from "../../../contract/api/churn-targets.ts";
import { billingEventNames } from "../../../contract/billing/events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { isBilling } from "../../warehouse/schema/billing-tables.ts";
import { isDeclared } from "../scores/features.ts";
import type { Outages } from "../scores/observed-days.ts";
import { engagementEvents, type Population } from "./engagement-events.ts";
import type { Query } from "./query.ts";
import { involuntaryQuery, leftQuery, unseenQuery } from "./target-query.ts";

export interface Horizon {
  readonly cutoffDay: number;
  readonly horizonDays: number;
}

/** Expressions over a column `entity`, for entities that can churn at the cut-off. */
export interface Labels {
  readonly churned: Query;
  /** Whether failed payments ended the last subscription of an entity that churned. False for other
   * targets. */
  readonly isInvoluntary: Query;
  /** Whether the entity has a label: somebody saw it leave, if it left. */
  readonly isLabelled: Query;
}

const always: Query = { sql: "true", parameters: {} };
const never: Query = { sql: "false", parameters: {} };

/** The labels of a population. */
export function labelsOf(population: Population, horizon: Horizon): Labels {
  const { cutoffDay, horizonDays } = horizon;
  if (!isDeclared(population.settings)) {
    const present = presentQuery(population, horizon);
    return {
      churned: { ...present, sql: `toBool(entity NOT IN (${present.sql}))` },
      isInvoluntary: never,
      isLabelled: always,
    };
  }
  const span = { from: cutoffDay, to: cutoffDay + horizonDays };
  const left = leftQuery(population, span.to, "leftAtEnd");
  const involuntary = involuntaryQuery(population, span.to, "leftAtEnd");
  const unseen = unseenQuery(population, span);
  return {
    churned: { ...left, sql: `toBool(entity IN (${left.sql}))` },
    isInvoluntary:
      involuntary === undefined ? never : { ...involuntary, sql: `entity IN (${involuntary.sql})` },
    isLabelled: unseen === undefined ? always : { ...unseen, sql: `entity NOT IN (${unseen.sql})` },
  };
}

/** Rows (entity) of entities with an engagement event in the horizon from the cut-off. */
export function presentQuery(population: Population, { cutoffDay, horizonDays }: Horizon): Query {
  const events = engagementEvents(population, cutoffDay, { horizonDays });
  return { sql: `SELECT entity FROM (${events.sql})`, parameters: events.parameters };
}

/**
 * Days of which nothing says who churned, because their raw events are deleted; none for targets whose
 * changes stay. Changes by an event stay when all of its rows are activity or billing events, which have
 * tables of their own. For an event that was never seen as either this is unknown.
 * @param eventsFromDay the first day whose raw events are kept; null while none were deleted
 */
export async function daysWithUnknownChurn(
  warehouse: Warehouse,
  { organization, settings: { target = silence } }: Population,
  eventsFromDay: number | null = null,
): Promise<Outages> {
  if (eventsFromDay === null || target.by !== "event") return [];
  const names = target.undoneBy === null ? [target.event] : [target.event, target.undoneBy];
  const billing: readonly string[] = billingEventNames;
  const others = names.filter((name) => !billing.includes(name));
  const [row] = await warehouse.rows<{ lost: number; seen: number }>(
    `SELECT
       (SELECT count() FROM events
        WHERE organization = {organization:UInt32} AND event IN ({names:Array(String)})
          AND NOT is_activity AND NOT (${isBilling})) AS lost,
       (SELECT uniqExact(event) FROM event_days
        WHERE organization = {organization:UInt32} AND event IN ({others:Array(String)})) AS seen`,
    { organization, names, others },
  );
  const stays = row !== undefined && row.lost === 0 && row.seen === new Set(others).size;
  return stays ? [] : [{ from: Number.NEGATIVE_INFINITY, to: eventsFromDay }];
}
