/** The MRR of entities for their alerts, in the organization's currency. */

import { revenueQuestion } from "../../../analytics/revenue/currencies.ts";
import { hasPayers, payersNow, payersSql } from "../../../analytics/revenue/payers-now.ts";
import { zoneOf } from "../../../calendar/zone.ts";
import type { SharedLedger } from "../../../ledger/ledger.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { isAbove } from "./segments.ts";

/** Reads MRR now, a few thousand entities at a time. @throws WarehouseError */
export function mrrReader(
  warehouse: Warehouse,
  ledger: Pick<SharedLedger, "settings">,
  nowMs: () => number,
): DecisionParts["mrrOf"] {
  return async ({ id, timezone }, kind, entities) => {
    const mrrs = new Map<number, number | null>();
    if (entities.length === 0 || !(await hasPayers(warehouse, id, kind))) return mrrs;
    const { reportingCurrency, currencyRates } = (await ledger.settings.get(id)).settings;
    const revenue = await revenueQuestion(warehouse, { organization: id, reportingCurrency, currencyRates });
    const { transitions } = zoneOf(timezone);
    const question = { ...revenue, kind, nowMs: nowMs(), untilMs: null, transitions };
    for (let at = 0; at < entities.length; at += entitiesOfStatement) {
      const some = entities.slice(at, at + entitiesOfStatement);
      for (const [entity, { mrr, unratedMrr }] of await payersNow(warehouse, question, some)) {
        const isUnknown = mrr === null && unratedMrr.length > 0;
        if (isUnknown || (mrr !== null && mrr > 0)) mrrs.set(entity, mrr);
      }
    }
    return mrrs;
  };
}

/** Those whose MRR is above a limit, or unknown. Who has one in several currencies is read by itself, because
 * an unknown MRR of the past does not count. @throws WarehouseError */
export async function payersAbove(
  warehouse: Warehouse,
  { settings, mrrOf }: Pick<DecisionParts, "mrrOf"> & Pick<SharedLedger, "settings">,
  organization: Organization,
  { kind, above, nowMs }: { readonly kind: EntityKind; readonly above: number; readonly nowMs: number },
): Promise<readonly number[]> {
  const { id, timezone } = organization;
  if (!(await hasPayers(warehouse, id, kind))) return [];
  const { reportingCurrency, currencyRates } = (await settings.get(id)).settings;
  const revenue = await revenueQuestion(warehouse, { organization: id, reportingCurrency, currencyRates });
  const { transitions } = zoneOf(timezone);
  const { text, parameters } = payersSql({ ...revenue, kind, nowMs, untilMs: null, transitions }, ["mrr"]);
  const rows = await warehouse.rows<{ readonly entity: number }>(
    `SELECT entity FROM ${text} WHERE isNull(mrr) OR mrr > {above:Int64} ORDER BY entity`,
    { ...parameters, above },
  );
  const numbers = rows.map(({ entity }) => entity);
  const mrrs = await mrrOf(organization, kind, numbers);
  return numbers.filter((number) => isAbove(mrrs.get(number), above));
}

const entitiesOfStatement = 2_000;
