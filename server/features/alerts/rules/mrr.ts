/** The MRR of entities for their alerts, in the organization's currency. */

import { revenueQuestion } from "../../../analytics/revenue/currencies.ts";
import { hasPayers, payersNow } from "../../../analytics/revenue/payers-now.ts";
import { zoneOf } from "../../../calendar/zone.ts";
import type { SharedLedger } from "../../../ledger/ledger.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { DecisionParts } from "./decision-parts.ts";

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

const entitiesOfStatement = 2_000;
